package components

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/manifests"
)

// RenderManifests is the build's last step: it renders Kueue's own config/default from its source into one file, so
// that running needs no source and the CRDs, roles and webhooks always match the controller's version. It returns the
// exit code and writes errors to stderr.
func RenderManifests(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("render-manifests", flag.ContinueOnError)
	flags.SetOutput(stderr)
	src := flags.String("kueue-src", "", "folder of Kueue's source")
	version := flags.String("kueue-version", "", "Kueue's version, which becomes the image tag of its Deployment")
	out := flags.String("o", "", "file to write")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if err := render(*src, *version, *out); err != nil {
		_, _ = fmt.Fprintf(stderr, "render-manifests: %v\n", err)
		return 1
	}
	return 0
}

func render(src, version, out string) error {
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(src, "config", "default"))
	if err != nil {
		return err
	}
	raw, err := rendered.AsYaml()
	if err != nil {
		return err
	}
	objs, err := manifests.Decode(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	if err := manifests.SetImage(objs, version); err != nil {
		return err
	}
	var file bytes.Buffer
	for _, o := range objs {
		doc, err := yaml.Marshal(o.Object)
		if err != nil {
			return err
		}
		file.WriteString("---\n")
		file.Write(doc)
	}
	return os.WriteFile(out, file.Bytes(), 0o644)
}
