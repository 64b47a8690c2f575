package sandbox

import (
	"fmt"
	"os"
	"strings"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/pki"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/supervise"
)

// Component names, also those of the programs and log files.
const (
	etcd              = "etcd"
	apiServer         = "kube-apiserver"
	controllerManager = "kube-controller-manager"
	scheduler         = "kube-scheduler"
	kwok              = "kwok"
	kueue             = "kueue"

	// kueueWebhook is no process but the port of Kueue's webhooks.
	kueueWebhook = "kueue-webhook"
)

// Stages of the end, the last first: what talks to the API server, the API server, its store.
const (
	stageStore = iota
	stageAPI
	stageClients
)

// portSet is the ports the components listen on, all on 127.0.0.1.
type portSet struct {
	etcd, etcdPeer, api, webhook, visibility, health, metrics int
	// webhookDoor is where the API server finds Kueue's webhooks.
	webhookDoor int
}

const portCount = 8

func newPorts(p []int) portSet { return portSet{p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]} }

func (p portSet) server() string { return fmt.Sprintf("https://127.0.0.1:%d", p.api) }

// component is a row of the table of components: how to run one, and what a person may do to it.
type component struct {
	name    string
	stage   int
	args    []string
	actions []string // allowed through Act
}

// faults is everything that can be done to a component.
func faults() []string { return []string{ActionStop, ActionContinue, ActionKill, ActionRestart} }

// table lists the components in the order they start.
func (s *Sandbox) table() []component {
	return []component{
		{etcd, stageStore, s.etcdArgs(), faults()},
		{apiServer, stageAPI, s.apiServerArgs(), faults()},
		{controllerManager, stageClients, s.controllerManagerArgs(), nil},
		{scheduler, stageClients, s.clientArgs("--authentication-skip-lookup", "--secure-port=0", "--leader-elect=false"), nil},
		{kwok, stageClients, s.kwokArgs(), nil},
		// The flag, not the KUBECONFIG variable: the visibility server's delegated authentication reads the flag only.
		{kueue, stageClients, []string{
			s.opts.Programs.Kueue, "--kubeconfig=" + s.folder.Path(kueueKubeconfig), "--config=" + s.folder.Path(kueueConfig), "--zap-log-level=2"},
			faults()},
	}
}

func (s *Sandbox) spec(c component) supervise.Spec {
	return supervise.Spec{
		Name: c.name, Program: s.opts.Programs.Self, Args: append([]string{"component", c.name}, c.args...), Stage: c.stage,
		Dir: s.folder.Path(), LogFile: s.folder.Log(c.name),
		Env: []string{"HOME=" + s.folder.Path(), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()},
	}
}

func (s *Sandbox) pki(name string) string { return s.folder.Path("pki", name) }

func (s *Sandbox) etcdArgs() []string {
	client, peer := fmt.Sprintf("https://127.0.0.1:%d", s.ports.etcd), fmt.Sprintf("https://127.0.0.1:%d", s.ports.etcdPeer)
	cert, key, ca := s.pki(pki.EtcdCert), s.pki(pki.EtcdKey), s.pki(pki.CACert)
	return []string{
		"--name=sandbox", "--data-dir=" + s.folder.Path(etcd),
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=sandbox=" + peer,
		// Every user of this machine can reach 127.0.0.1, so both ports ask for a client certificate.
		"--cert-file=" + cert, "--key-file=" + key, "--client-cert-auth", "--trusted-ca-file=" + ca,
		"--peer-cert-file=" + cert, "--peer-key-file=" + key, "--peer-client-cert-auth", "--peer-trusted-ca-file=" + ca,
		"--unsafe-no-fsync", // the data dies with the sandbox anyway
		// As kubeadm does: without it watches of kinds to which nothing happens get no
		// bookmarks for ten minutes.
		"--watch-progress-notify-interval=5s",
		"--quota-backend-bytes=4294967296", "--log-level=warn",
	}
}

func (s *Sandbox) apiServerArgs() []string {
	return []string{
		fmt.Sprintf("--etcd-servers=https://127.0.0.1:%d", s.ports.etcd), "--etcd-cafile=" + s.pki(pki.CACert),
		"--etcd-certfile=" + s.pki(pki.EtcdClientCert), "--etcd-keyfile=" + s.pki(pki.EtcdClientKey),
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
		fmt.Sprintf("--secure-port=%d", s.ports.api),
		"--tls-cert-file=" + s.pki(pki.APIServerCert), "--tls-private-key-file=" + s.pki(pki.APIServerKey),
		"--client-ca-file=" + s.pki(pki.CACert), "--authorization-mode=RBAC",
		// There is no node-lifecycle controller to take the not-ready taint off again.
		"--disable-admission-plugins=TaintNodesByCondition",
		"--service-cluster-ip-range=10.0.0.0/24", "--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + s.pki(pki.ServiceAcctPub), "--service-account-signing-key-file=" + s.pki(pki.ServiceAcctKey),
		// Aggregation, for Kueue's visibility API.
		"--requestheader-client-ca-file=" + s.pki(pki.CACert), "--requestheader-allowed-names=" + pki.FrontProxyUser,
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + s.pki(pki.FrontProxyCert), "--proxy-client-key-file=" + s.pki(pki.FrontProxyKey),
		"--profiling=false", "--shutdown-delay-duration=0s",
	}
}

// controllers are those the sandbox's objects need. The Deployment, ReplicaSet and StatefulSet controllers are left
// out: they would make pods for Kueue's Deployment, whose status the sandbox writes itself. So are the node ones.
func controllers() string {
	return strings.Join([]string{
		"job-controller", "cronjob-controller", "garbage-collector-controller", "pod-garbage-collector-controller",
		"ttl-after-finished-controller", "namespace-controller", "serviceaccount-controller",
		"serviceaccount-token-controller", "root-ca-certificate-publisher-controller", "resourcequota-controller",
		"clusterrole-aggregation-controller", // fills Kueue's batch-admin and batch-user roles
	}, ",")
}

func (s *Sandbox) controllerManagerArgs() []string {
	return s.clientArgs("--authentication-skip-lookup", "--authorization-always-allow-paths=*", "--secure-port=0",
		"--leader-elect=false", "--use-service-account-credentials=false",
		"--service-account-private-key-file="+s.pki(pki.ServiceAcctKey), "--root-ca-file="+s.pki(pki.CACert),
		"--controllers="+controllers(), "--concurrent-job-syncs=20")
}

func (s *Sandbox) clientArgs(more ...string) []string {
	return append([]string{"--kubeconfig=" + s.folder.Path(AdminKubeconfig), "--kube-api-qps=500", "--kube-api-burst=1000"}, more...)
}

func (s *Sandbox) kwokArgs() []string {
	return []string{"--kubeconfig=" + s.folder.Path(AdminKubeconfig), "--config=" + s.folder.Path(kwokConfig),
		"--manage-all-nodes=true", "--server-address=", "--node-lease-duration-seconds=0"}
}
