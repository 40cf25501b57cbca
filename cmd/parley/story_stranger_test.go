package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// strangersLetter is something on a NATS system that was heard there, or is to be said.
type strangersLetter struct {
	Subject string
	Header  nats.Header
	Data    []byte
}

// stranger is somebody else's program, which tries what strangers try:
//
//	stranger listen ADDRESS SEEDFILE SUBJECT SECONDS  hears what it can, and prints it as JSON lines
//	stranger speak ADDRESS SEEDFILE                   says the JSON lines that it reads, and prints what came of each
//	stranger garbage ADDRESS                          writes what no protocol knows, and prints how much it got back
//	stranger slow ADDRESS                             begins many handshakes and ends none, and prints how many were cut off
//	stranger between LISTEN TARGET                    ends TLS with its own certificate and begins it anew
//	stranger socket PATH                              connects to a control socket
//
// SEEDFILE has the seed of an nkey; "-" is nobody's key.
func stranger() {
	tries := map[string]func([]string) error{
		"listen": strangerListens, "speak": strangerSpeaks, "garbage": strangerGarbles, "slow": strangerDawdles, "between": strangerBetween,
		"socket": strangerAtSocket,
	}
	if err := tries[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Println("refused:", err)
	}
	os.Exit(0)
}

// strangerConnects returns a NATS client that believes any server.
func strangerConnects(address, seedFile string) (*nats.Conn, error) {
	options := []nats.Option{nats.NoReconnect(), nats.Timeout(10 * time.Second),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})}
	if host, _, _ := net.SplitHostPort(address); host != "127.0.0.1" {
		options = append(options, nats.Secure(&tls.Config{InsecureSkipVerify: true}))
	}
	if seedFile != "-" {
		seed, err := os.ReadFile(seedFile)
		if err != nil {
			return nil, err
		}
		key, err := nkeys.ParseDecoratedNKey(seed)
		if err != nil {
			return nil, err
		}
		public, err := key.PublicKey()
		if err != nil {
			return nil, err
		}
		options = append(options, nats.Nkey(public, key.Sign))
	}
	return nats.Connect("nats://"+address, options...)
}

func strangerListens(args []string) error {
	conn, err := strangerConnects(args[0], args[1])
	if err != nil {
		return err
	}
	defer conn.Close()
	seconds, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	letters := make(chan *nats.Msg, 10_000)
	if _, err := conn.ChanSubscribe(args[2], letters); err != nil {
		return err
	}
	for end := time.After(time.Duration(seconds) * time.Second); ; {
		select {
		case m := <-letters:
			if err := json.NewEncoder(os.Stdout).Encode(strangersLetter{m.Subject, m.Header, m.Data}); err != nil {
				return err
			}
		case <-end:
			return conn.LastError()
		}
	}
}

// strangerSpeaks uses a connection for each letter. The last error of the connection is then about
// this letter.
func strangerSpeaks(args []string) error {
	for dec := json.NewDecoder(os.Stdin); ; {
		var l strangersLetter
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		conn, err := strangerConnects(args[0], args[1])
		if err != nil {
			return err
		}
		err = conn.PublishMsg(&nats.Msg{Subject: l.Subject, Header: l.Header, Data: l.Data})
		if err == nil {
			err = conn.Flush()
		}
		fmt.Println(l.Subject, errors.Join(err, conn.LastError()))
		conn.Close()
	}
}

func strangerGarbles(args []string) error {
	random := mathrand.NewChaCha8([32]byte{1})
	noise := make([]byte, 1<<20)
	if _, err := random.Read(noise); err != nil {
		return err
	}
	got := 0
	for _, says := range [][]byte{
		noise,
		[]byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
		[]byte("CONNECT {\"verbose\":true}\r\nPING\r\nSUB parley.> 1\r\nPUB parley.x 1\r\nx\r\n"),
		append([]byte("CONNECT "), noise...),
		append([]byte{0x16, 0x03, 0x01, 0x40, 0x00, 0x01}, noise...), // the beginning of a TLS handshake
		{},
	} {
		conn, err := net.DialTimeout("tcp", args[0], 10*time.Second)
		if err != nil {
			return err
		}
		go func() { _, _ = conn.Write(says) }() // ends with the connection, which may be cut off at any time
		_ = conn.SetReadDeadline(time.Now().Add(4 * time.Second))
		answer, _ := io.ReadAll(conn) // cut off or not
		got += len(answer)
		conn.Close()
	}
	fmt.Println("got", got)
	return nil
}

func strangerDawdles(args []string) error {
	const many = 40
	var closed atomic.Int64
	var all sync.WaitGroup
	for range many {
		all.Go(func() {
			conn, err := net.DialTimeout("tcp", args[0], 10*time.Second)
			if err != nil {
				closed.Add(1)
				return
			}
			defer conn.Close()
			hello := append([]byte{0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03}, make([]byte, 100)...)
			for _, b := range hello {
				_ = conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond)) // between two bytes
				_, err := conn.Write([]byte{b})
				for err == nil { // skips a greeting
					_, err = conn.Read(make([]byte, 4096))
				}
				if !errors.Is(err, os.ErrDeadlineExceeded) {
					closed.Add(1)
					return
				}
			}
		})
	}
	all.Wait()
	fmt.Println("cut off", closed.Load(), "of", many)
	return nil
}

// strangerBetween passes on what it can read, and prints how many bytes that were.
func strangerBetween(args []string) error {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), NotBefore: time.Now().Add(-time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	certificate := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	listener, err := net.Listen("tcp", args[0])
	if err != nil {
		return err
	}
	fmt.Println("between")
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() { // ends with the connection
			defer conn.Close()
			near := tls.Server(conn, &tls.Config{ClientAuth: tls.RequestClientCert,
				GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
					return &tls.Config{Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequestClientCert, NextProtos: hello.SupportedProtos}, nil
				}})
			if err := near.Handshake(); err != nil {
				fmt.Println("handshake:", err)
				return
			}
			far, err := tls.Dial("tcp", args[1], &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{certificate},
				NextProtos: []string{near.ConnectionState().NegotiatedProtocol}})
			if err != nil {
				fmt.Println("far:", err)
				return
			}
			defer far.Close()
			go func() { _, _ = io.Copy(far, near) }() // ends with far
			n, _ := io.Copy(near, far)                // until either ends
			fmt.Println("passed", n)
		}()
	}
}

func strangerAtSocket(args []string) error {
	conn, err := net.Dial("unix", args[0])
	if err != nil {
		return err
	}
	fmt.Println("connected")
	return conn.Close()
}
