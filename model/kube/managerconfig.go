package kube

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"cli.holdfast.dev/holdfast/model/manager"
	"cli.holdfast.dev/holdfast/model/text"
)

// ManagerConfig reads how Kueue's manager was started: its Deployment's command
// line, the ConfigMap that the command line leads to, and since when it leads. It
// never fails: what could not be read is told, refusals apart from absences.
// Where the Deployment says nothing, the ConfigMap of Kueue's own manifests is
// taken.
func (c *Client) ManagerConfig(ctx context.Context, namespace, name string) manager.Found {
	d, err := c.deployment(ctx, namespace, name)
	if err != nil {
		at := place{name: strings.TrimSuffix(name, "-controller-manager") + "-manager-config", key: manager.ConfigKey}
		f := c.readConfig(ctx, namespace, at)
		why := "Deployment " + namespace + "/" + name + " " + trouble(err)
		if f.Problem != "" {
			f.Problem = why + ", and " + f.Problem
			return f
		}
		f.Assumed = append(f.Assumed, fmt.Sprintf("%s: the manager is taken to run with %s", why, f.Source))
		f.Unknown = append(f.Unknown, "the manager's command line is not known: it may set feature gates")
		return c.led(ctx, namespace, f)
	}
	k := managerOf(d)
	if k == nil {
		return manager.Found{Problem: fmt.Sprintf("Deployment %s/%s does not tell which of its containers is the manager", namespace, text.Clean(d.Name))}
	}
	args := append(append([]string(nil), k.Command...), k.Args...)
	gates, _ := flagOf(args, "feature-gates")
	file, ok := flagOf(args, "config")
	if !ok || file == "" {
		return manager.Found{Gates: gates}
	}
	at, why := placeOf(&d.Spec.Template.Spec, k, file)
	if why != "" {
		return manager.Found{Gates: gates, Problem: fmt.Sprintf("the manager reads its configuration from %s: %s", text.Clean(file), text.Clean(why))}
	}
	f := c.readConfig(ctx, namespace, at)
	f.Gates = gates
	return c.led(ctx, namespace, f)
}

// trouble is what became of a read: refused, absent, or the error's own words.
func trouble(err error) string {
	switch {
	case apierrors.IsForbidden(err):
		return "may not be read"
	case apierrors.IsNotFound(err):
		return "does not exist"
	}
	return "could not be read: " + text.Clean(err.Error())
}

// component selects what belongs to Kueue's manager, by the label of Kueue's
// manifests and of its chart.
const component = "control-plane=controller-manager"

// deployment reads the manager's Deployment. A chart may call it otherwise: where
// there is none of the name, the only one of the component counts.
func (c *Client) deployment(ctx context.Context, namespace, name string) (*appsv1.Deployment, error) {
	d, err := c.set.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return d, err
	}
	all, listErr := c.set.AppsV1().Deployments(namespace).List(ctx, metav1.ListOptions{LabelSelector: component, Limit: pageSize})
	if listErr == nil && len(all.Items) == 1 {
		return &all.Items[0], nil
	}
	return nil, err
}

// managerOf is the manager's container; nil: nothing tells which it is.
func managerOf(d *appsv1.Deployment) *corev1.Container {
	all := d.Spec.Template.Spec.Containers
	for i := range all {
		if all[i].Name == "manager" || len(all) == 1 {
			return &all[i]
		}
	}
	return nil
}

// flagOf returns what a command line says of a flag, as Go's package flag reads
// it: the last one counts, with one dash or two, its value behind "=" or in the
// next argument.
func flagOf(args []string, name string) (value string, ok bool) {
	for i := 0; i < len(args); i++ {
		given, found := strings.CutPrefix(args[i], "-")
		if !found {
			continue
		}
		switch given = strings.TrimPrefix(given, "-"); {
		case given == name && i+1 < len(args):
			i++
			value, ok = args[i], true
		case strings.HasPrefix(given, name+"="):
			value, ok = given[len(name)+1:], true
		}
	}
	return value, ok
}

// place is where a configuration stands.
type place struct{ name, key string }

// placeOf finds the ConfigMap behind a file of the container; why says what is
// there instead.
func placeOf(pod *corev1.PodSpec, k *corev1.Container, file string) (at place, why string) {
	var mount *corev1.VolumeMount
	var inside string // the file's path from the mount on
	for i := range k.VolumeMounts {
		m := &k.VolumeMounts[i]
		root := strings.TrimSuffix(m.MountPath, "/")
		rest, ok := strings.CutPrefix(file, root)
		if !ok || rest != "" && rest[0] != '/' {
			continue
		}
		if mount == nil || len(m.MountPath) > len(mount.MountPath) {
			mount, inside = m, strings.TrimPrefix(rest, "/")
		}
	}
	if mount == nil {
		return place{}, "no volume is mounted there"
	}
	if mount.SubPath != "" {
		inside = strings.TrimSuffix(mount.SubPath+"/"+inside, "/")
	}
	for i := range pod.Volumes {
		v := &pod.Volumes[i]
		if v.Name != mount.Name {
			continue
		}
		switch {
		case v.ConfigMap != nil:
			if key, ok := keyOf(v.ConfigMap.Items, inside); ok {
				return place{v.ConfigMap.Name, key}, ""
			}
			return place{}, fmt.Sprintf("the volume %s does not hold it", v.Name)
		case v.Projected != nil:
			// Of sources with the same path the last one counts.
			for j := len(v.Projected.Sources) - 1; j >= 0; j-- {
				m := v.Projected.Sources[j].ConfigMap
				if m == nil {
					continue
				}
				if key, ok := keyOf(m.Items, inside); ok {
					return place{m.Name, key}, ""
				}
			}
		}
		return place{}, fmt.Sprintf("the volume %s is no ConfigMap", v.Name)
	}
	return place{}, fmt.Sprintf("there is no volume %s", mount.Name)
}

// keyOf is the key behind a path of a volume.
func keyOf(items []corev1.KeyToPath, path string) (string, bool) {
	for _, i := range items {
		if i.Path == path {
			return i.Key, true
		}
	}
	return path, len(items) == 0 && path != "" && !strings.Contains(path, "/")
}

func (c *Client) readConfig(ctx context.Context, namespace string, at place) manager.Found {
	f := manager.Found{Source: text.Clean("ConfigMap " + namespace + "/" + at.name)}
	m, err := c.set.CoreV1().ConfigMaps(namespace).Get(ctx, at.name, metav1.GetOptions{})
	if err != nil {
		f.Problem = f.Source + " " + trouble(err)
		return f
	}
	raw, ok := m.Data[at.key]
	f.Raw = []byte(raw)
	if !ok {
		if f.Raw, ok = m.BinaryData[at.key]; !ok {
			f.Problem, f.Raw = fmt.Sprintf("%s has no key %s", f.Source, text.Clean(at.key)), nil
			return f
		}
	}
	for i := range m.ManagedFields {
		if e := &m.ManagedFields[i]; e.Time != nil && e.Time.After(f.Changed) && ofData(e.FieldsV1) {
			f.Changed = e.Time.Time
		}
	}
	return f
}

// ofData reports whether the fields are of what a ConfigMap holds, and not only of
// its labels and annotations.
func ofData(f *metav1.FieldsV1) bool {
	return f == nil || strings.Contains(f.GetRawString(), `"f:data"`) || strings.Contains(f.GetRawString(), `"f:binaryData"`)
}

// led adds since when the manager leads, where that can be read: what was written
// later it has not read.
func (c *Client) led(ctx context.Context, namespace string, f manager.Found) manager.Found {
	if f.Changed.IsZero() {
		return f
	}
	if l, err := c.Lease(ctx, namespace, time.Time{}); err == nil {
		f.Led = l.Acquired
	}
	return f
}
