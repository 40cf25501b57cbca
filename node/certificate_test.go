package node

import (
	"context"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/presence"
	"github.com/parleyfleet/parley/protocol"
)

func TestCertificateOfAnotherHost(t *testing.T) {
	t.Parallel()
	hub, _ := aHub(t)
	white, stop, _ := linkedTo(t, hub, "white")
	seenAs(t, hub, "white", control.HostLive)
	ask := func() (control.Certificate, error) {
		return control.HostCertificate.Ask(t.Context(), hub, control.HostRequest{Alias: "white"})
	}
	c, err := ask()
	if err != nil || c.PEM != string(white.currentBus().Certificate()) {
		t.Fatalf("its certificate: %q, %v", c.PEM, err)
	}
	for name, answer := range map[string]string{
		"another host's":          string(hub.currentBus().Certificate()),
		"none":                    "",
		"a certificate and more":  c.PEM + c.PEM,
		"what is none inside":     "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
		"something else in armor": strings.ReplaceAll(c.PEM, "CERTIFICATE", "PRIVATE KEY"),
	} {
		white.currentBus().Serve(presence.QuestionCertificate, func(context.Context, protocol.Name, []byte) ([]byte, error) { return []byte(answer), nil })
		if got, err := ask(); err == nil || got.PEM != "" || !strings.Contains(err.Error(), "cannot use the certificate of white") {
			t.Errorf("%s was taken: %q, %v", name, got.PEM, err)
		}
	}
	stop()
	seenAs(t, hub, "white", control.HostAway)
	if _, err := ask(); err == nil || !strings.Contains(err.Error(), "cannot ask white: it is away") {
		t.Errorf("of a host that is away: %v", err)
	}
}
