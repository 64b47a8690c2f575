package kube

import (
	"context"
	"fmt"
	"strings"

	authzv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"cli.holdfast.dev/holdfast/model/text"
)

// Subject is somebody whose rights are asked for: a user, a group, or both.
type Subject struct {
	User   string
	Groups []string
	// Name is how the subject is written: "User/jane", "Group/team-a",
	// "ServiceAccount/ns/name".
	Name string
}

// ParseSubject reads "user:NAME", "group:NAME" or "sa:NAMESPACE/NAME".
func ParseSubject(s string) (Subject, error) {
	kind, name, ok := strings.Cut(s, ":")
	if ok && name != "" {
		switch kind {
		case "user":
			return subject(rbacv1.Subject{Kind: rbacv1.UserKind, Name: name}), nil
		case "group":
			return subject(rbacv1.Subject{Kind: rbacv1.GroupKind, Name: name}), nil
		case "sa":
			if ns, sa, ok := strings.Cut(name, "/"); ok && ns != "" && sa != "" {
				return subject(rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: ns, Name: sa}), nil
			}
		}
	}
	return Subject{}, fmt.Errorf("%q names no subject: write user:NAME, group:NAME or sa:NAMESPACE/NAME", s)
}

// subject adds the groups that the API server gives to everyone of the kind.
func subject(s rbacv1.Subject) Subject {
	const authenticated = "system:authenticated"
	out := Subject{Name: text.Clean(s.Kind + "/" + s.Name), Groups: []string{authenticated}}
	switch s.Kind {
	case rbacv1.GroupKind:
		out.Groups = append(out.Groups, s.Name)
	case rbacv1.ServiceAccountKind:
		out.Name = text.Clean(s.Kind + "/" + s.Namespace + "/" + s.Name)
		out.User = "system:serviceaccount:" + s.Namespace + ":" + s.Name
		out.Groups = append(out.Groups, "system:serviceaccounts", "system:serviceaccounts:"+s.Namespace)
	default:
		out.User = s.Name
	}
	return out
}

// Right is something that a subject may or may not do. Namespace and Name are
// empty for all of them.
type Right struct{ Verb, Group, Resource, Namespace, Name string }

// May asks the server whether the subject has the right. An error means that it
// is not known, which is no "no".
func (c *Client) May(ctx context.Context, s Subject, r Right) (bool, error) {
	review, err := c.set.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authzv1.SubjectAccessReview{Spec: authzv1.SubjectAccessReviewSpec{
		User: s.User, Groups: s.Groups,
		ResourceAttributes: &authzv1.ResourceAttributes{Verb: r.Verb, Group: r.Group, Resource: r.Resource, Namespace: r.Namespace, Name: r.Name},
	}}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	if e := review.Status.EvaluationError; e != "" && !review.Status.Allowed {
		return false, fmt.Errorf("the server could not decide: %s", text.Clean(e))
	}
	return review.Status.Allowed, nil
}

// Bound returns the subjects of the RoleBindings of the namespace, each once.
func (c *Client) Bound(ctx context.Context, namespace string) ([]Subject, error) {
	list, err := c.set.RbacV1().RoleBindings(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var out []Subject
	seen := map[string]bool{}
	for i := range list.Items {
		for _, s := range list.Items[i].Subjects {
			if s.Kind == rbacv1.ServiceAccountKind && s.Namespace == "" {
				s.Namespace = namespace
			}
			x := subject(s)
			if !seen[x.Name] {
				seen[x.Name] = true
				out = append(out, x)
			}
		}
	}
	return out, nil
}
