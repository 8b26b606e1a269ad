package fetch

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// authority signs certificates.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: testTime.AddDate(-1, 0, 0), NotAfter: testTime.AddDate(1, 0, 0), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{key, cert}
}

// serve starts a TLS server for that host until that time and returns its URL.
func (a authority) serve(t *testing.T, w *world, host string, until time.Time, handler http.Handler) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: []string{host}, NotBefore: testTime.AddDate(-1, 0, 0), NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return "https://docs.example:" + w.open(server.Listener.Addr())
}

// U11
func TestFetch_TrustsOnlyACertificateOfTheHost(t *testing.T) {
	w := newWorld(t, says("plain"))
	known, unknown := newAuthority(t), newAuthority(t)
	w.roots = x509.NewCertPool()
	w.roots.AddCert(known.cert)
	soon := testTime.Add(time.Hour)
	for _, c := range []struct {
		name, url string
		reason    string
	}{
		{"good", known.serve(t, w, "docs.example", soon, says("page")), ""},
		{"expired", known.serve(t, w, "docs.example", testTime.Add(-time.Hour), says("page")), TLSFailed},
		{"of another host", known.serve(t, w, "other.example", soon, says("page")), TLSFailed},
		{"signed by nobody known", unknown.serve(t, w, "docs.example", soon, says("page")), TLSFailed},
		{"no TLS at all", strings.Replace(w.outside, "http:", "https:", 1), BadResponse},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := w.Fetch(t.Context(), c.url)
			if c.reason != "" {
				refused(t, err, c.reason)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// U11
func TestFetch_LeavesHTTPSNeverAgain(t *testing.T) {
	var down string
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, down, http.StatusMovedPermanently)
	}))
	a := newAuthority(t)
	w.roots = x509.NewCertPool()
	w.roots.AddCert(a.cert)
	secure := a.serve(t, w, "docs.example", testTime.Add(time.Hour), http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/down" {
			http.Redirect(rw, r, w.outside, http.StatusFound)
		}
		_, _ = rw.Write([]byte("page"))
	}))
	down = secure + "/down"
	_, err := w.Fetch(t.Context(), w.outside)
	refused(t, err, BadURL)
	down = secure
	if page, err := w.Fetch(t.Context(), w.outside); err != nil || page.URL != secure+"/" {
		t.Errorf("up: %+v, %v", page, err)
	}
}
