package main

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type goPackage struct {
	Dir        string
	ImportPath string
	Imports    []string
	Deps       []string
	GoFiles    []string
}

const module = "cli.holdfast.dev/holdfast/"

func packages(t *testing.T) []goPackage {
	t.Helper()
	c := exec.Command("go", "list", "-json=Dir,ImportPath,Imports,Deps,GoFiles", module+"...")
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []goPackage
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// layer is the place of a package in cmd -> ui -> actions -> model; imports go to
// the same or a lower number only.
func layer(path string) (string, int) {
	rest, ok := strings.CutPrefix(path, module)
	if !ok {
		return "", -1
	}
	top, _, _ := strings.Cut(rest, "/")
	return top, slices.Index([]string{"model", "actions", "ui", "cmd"}, top)
}

func TestImportsGoOneWay(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range packages(t) {
		top, n := layer(p.ImportPath)
		if n < 0 {
			t.Errorf("%s is in none of the four folders", p.ImportPath)
		}
		seen[top] = true
		for _, i := range p.Imports {
			if _, m := layer(i); m > n {
				t.Errorf("%s imports %s: imports go cmd -> ui -> actions -> model", p.ImportPath, i)
			}
		}
		for _, d := range p.Deps {
			if top != "ui" && top != "cmd" && strings.HasPrefix(d, "github.com/charmbracelet/") {
				t.Errorf("%s depends on %s: only ui draws", p.ImportPath, d)
			}
		}
		for _, i := range p.Imports {
			if top == "ui" && (strings.HasPrefix(i, "k8s.io/client-go") || strings.HasPrefix(i, "sigs.k8s.io/")) {
				t.Errorf("%s imports %s: ui knows no cluster", p.ImportPath, i)
			}
			if top == "model" && strings.HasPrefix(i, "k8s.io/client-go/dynamic") {
				t.Errorf("%s imports %s: model reads typed objects, and only actions writes", p.ImportPath, i)
			}
		}
	}
	for _, top := range []string{"model", "actions", "ui", "cmd"} {
		if !seen[top] {
			t.Errorf("no package in %s: this test looks at nothing", top)
		}
	}
}

// Only actions calls what changes a cluster, and nothing calls what deletes.
func TestWritesAreInActionsOnly(t *testing.T) {
	writes := []string{"Patch", "Apply", "ApplyStatus", "UpdateStatus", "Create", "Update"}
	deletes := []string{"Delete", "DeleteCollection", "Evict"}
	patches := 0
	for _, p := range packages(t) {
		top, _ := layer(p.ImportPath)
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			if !importsClient(f) {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				sel, ok := call.Fun.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if slices.Contains(writes, sel.Sel.Name) && len(call.Args) > 0 && isContext(call.Args[0]) && !isReview(sel.X) {
					patches++
					if top != "actions" {
						t.Errorf("%s/%s calls %s: only actions writes", p.ImportPath, name, sel.Sel.Name)
					}
				}
				// The store's own Delete takes no context.
				if slices.Contains(deletes, sel.Sel.Name) && len(call.Args) > 0 && isContext(call.Args[0]) {
					t.Errorf("%s/%s calls %s: the console deletes nothing", p.ImportPath, name, sel.Sel.Name)
				}
				return true
			})
		}
	}
	if patches == 0 {
		t.Error("no write was found at all: this test looks at nothing")
	}
}

func importsClient(f *ast.File) bool {
	for _, i := range f.Imports {
		if strings.HasPrefix(i.Path.Value, `"k8s.io/client-go/`) || strings.HasPrefix(i.Path.Value, `"sigs.k8s.io/kueue/client-go`) {
			return true
		}
	}
	return false
}

func isContext(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && strings.Contains(strings.ToLower(id.Name), "ctx")
}

// isReview reports whether e is a client of a review kind, whose Create stores
// nothing.
func isReview(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && strings.HasSuffix(sel.Sel.Name, "Reviews")
}
