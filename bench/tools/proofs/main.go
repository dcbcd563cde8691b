// Makes DPoP proofs (RFC 9449) for the benchmark, a line each: thumbprint, space, proof. On all cores.
//
//	proofs -count N -keys K -htu URL -nonce NONCE >FILE
//
// The keys take turns. Each proof is to be used once, within the broker's window from now on.
package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"runtime"
	"sync"
	"time"
)

var b64 = base64.RawURLEncoding

type jwk struct { // in the order a thumbprint wants (RFC 7638)
	Crv string `json:"crv"`
	Kty string `json:"kty"`
	X   string `json:"x"`
	Y   string `json:"y"`
}

type header struct {
	Typ string `json:"typ"`
	Alg string `json:"alg"`
	Jwk jwk    `json:"jwk"`
}

type claims struct {
	Jti   string `json:"jti"`
	Htm   string `json:"htm"`
	Htu   string `json:"htu"`
	Iat   int64  `json:"iat"`
	Nonce string `json:"nonce"`
}

type install struct {
	key    *ecdsa.PrivateKey
	jkt    string
	header string
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func newInstall() install {
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	var x, y [32]byte
	public := jwk{"P-256", "EC", b64.EncodeToString(key.X.FillBytes(x[:])), b64.EncodeToString(key.Y.FillBytes(y[:]))}
	thumbprint := sha256.Sum256(must(json.Marshal(public)))
	head := must(json.Marshal(header{"dpop+jwt", "ES256", public}))
	return install{key, b64.EncodeToString(thumbprint[:]), b64.EncodeToString(head)}
}

func (i install) line(htu, nonce string, now int64) string {
	var id [16]byte
	must(rand.Read(id[:]))
	payload := must(json.Marshal(claims{b64.EncodeToString(id[:]), "POST", htu, now, nonce}))
	input := i.header + "." + b64.EncodeToString(payload)
	digest := sha256.Sum256([]byte(input))
	r, s, err := ecdsa.Sign(rand.Reader, i.key, digest[:])
	if err != nil {
		log.Fatal(err)
	}
	var raw [64]byte
	r.FillBytes(raw[:32])
	s.FillBytes(raw[32:])
	return i.jkt + " " + input + "." + b64.EncodeToString(raw[:]) + "\n"
}

// inParallel calls work with each of 0..<count, on all cores.
func inParallel(count int, work func(int)) {
	cores := runtime.GOMAXPROCS(0)
	var group sync.WaitGroup
	for core := 0; core < cores; core++ {
		group.Add(1)
		go func(first int) {
			defer group.Done()
			for n := first; n < count; n += cores {
				work(n)
			}
		}(core)
	}
	group.Wait()
}

func main() {
	count := flag.Int("count", 1000, "how many proofs")
	keys := flag.Int("keys", 2000, "how many installs")
	htu := flag.String("htu", "", "the URL the proofs are for")
	nonce := flag.String("nonce", "", "the broker's nonce")
	flag.Parse()
	if *htu == "" || *nonce == "" || *keys < 1 {
		log.Fatal("needs -htu, -nonce and at least one key")
	}
	installs := make([]install, *keys)
	inParallel(*keys, func(n int) { installs[n] = newInstall() })
	lines := make([]string, *count)
	now := time.Now().Unix()
	inParallel(*count, func(n int) { lines[n] = installs[n%*keys].line(*htu, *nonce, now) })
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	for _, line := range lines {
		fmt.Fprint(out, line)
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}
