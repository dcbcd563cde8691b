// Sends mint requests at a fixed rate, whatever the answers do (an open loop), and prints one JSON object with the latencies.
//
//	CLIENT_ID=… AUDIENCE=… [API_TOKEN=…] openloop -address 127.0.0.1:PORT -rate R -connections C -warm S -seconds S
//
// Arrivals on each connection are Poisson. A request that had to wait for the answer before it on its connection counts from
// when it should have left; otherwise from when it left, so that the generator's own timer does not count.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand"
	"net"
	"net/http"
	"os"
	"sort"
	"sync"
	"time"
)

type result struct {
	Sent, Ok    int
	Seconds     float64
	P50, P99    float64 // microseconds
	Max         float64
	LatestStart float64 // microseconds behind the schedule
}

// requests gives complete requests for 10,000 installs, the same for the same seed.
func requests(host string, random *rand.Rand) [][]byte {
	authorization := ""
	if token := os.Getenv("API_TOKEN"); token != "" {
		authorization = "Authorization: Bearer " + token + "\r\n"
	}
	all := make([][]byte, 10000)
	for i := range all {
		var raw [32]byte
		random.Read(raw[:])
		body := fmt.Sprintf(`{"client_id":"%s","audience":"%s","dpop_jkt":"%s"}`,
			os.Getenv("CLIENT_ID"), os.Getenv("AUDIENCE"), base64.RawURLEncoding.EncodeToString(raw[:]))
		all[i] = []byte(fmt.Sprintf("POST /v1/assertions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s",
			host, authorization, len(body), body))
	}
	return all
}

type sample struct{ latency, behind time.Duration }

// drive keeps one connection to its schedule from begin to end and records what is sent after measured.
func drive(address string, all [][]byte, random *rand.Rand, rate float64, begin, measured, end time.Time) ([]sample, int) {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	reader := bufio.NewReader(connection)
	var samples []sample
	refused := 0
	var free time.Time
	for due := begin; ; {
		due = due.Add(time.Duration(random.ExpFloat64() / rate * float64(time.Second)))
		if due.After(end) {
			return samples, refused
		}
		time.Sleep(time.Until(due))
		start := time.Now()
		behind := start.Sub(due)
		if free.After(due) {
			start = due
		}
		if _, err := connection.Write(all[random.Intn(len(all))]); err != nil {
			log.Fatal(err)
		}
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			log.Fatal(err)
		}
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
		free = time.Now()
		if due.Before(measured) {
			continue
		}
		if response.StatusCode != 200 {
			refused++
		}
		samples = append(samples, sample{free.Sub(start), behind})
	}
}

func main() {
	address := flag.String("address", "", "host:port")
	rate := flag.Float64("rate", 1000, "requests a second, all connections together")
	connections := flag.Int("connections", 64, "")
	warm := flag.Float64("warm", 1, "seconds that do not count")
	seconds := flag.Float64("seconds", 5, "seconds that count")
	flag.Parse()

	all := requests(*address, rand.New(rand.NewSource(7)))
	begin := time.Now().Add(50 * time.Millisecond)
	measured := begin.Add(time.Duration(*warm * float64(time.Second)))
	end := measured.Add(time.Duration(*seconds * float64(time.Second)))
	var group sync.WaitGroup
	var lock sync.Mutex
	var samples []sample
	refused := 0
	for n := 0; n < *connections; n++ {
		group.Add(1)
		go func(seed int64) {
			defer group.Done()
			mine, bad := drive(*address, all, rand.New(rand.NewSource(seed)), *rate/float64(*connections), begin, measured, end)
			lock.Lock()
			defer lock.Unlock()
			samples, refused = append(samples, mine...), refused+bad
		}(int64(n) + 1)
	}
	group.Wait()
	if len(samples) == 0 {
		log.Fatal("no request was sent")
	}
	sort.Slice(samples, func(a, b int) bool { return samples[a].latency < samples[b].latency })
	at := func(q float64) float64 {
		return float64(samples[int(q*float64(len(samples)-1))].latency) / 1e3
	}
	latest := time.Duration(0)
	for _, s := range samples {
		if s.behind > latest {
			latest = s.behind
		}
	}
	json.NewEncoder(os.Stdout).Encode(result{len(samples), len(samples) - refused, *seconds, at(0.5), at(0.99), at(1), float64(latest) / 1e3})
}
