package main

import (
	"io"
	"net"
	"time"
)

// link is a network of its own between us and the server: every byte arrives later, and as many as
// you like are on the way at once.
type link struct {
	net.Listener
	target string
	delay  time.Duration // of each direction; a round trip takes twice as long
}

func openLink(target string, delay time.Duration) (*link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &link{listener, target, delay}
	go l.serve()
	return l, nil
}

// serve ends when the listener is closed; connections end with their clients.
func (l *link) serve() {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", l.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		go l.carry(client, server)
		go l.carry(server, client)
	}
}

// packet is what was read at once, and when it may arrive.
type packet struct {
	due   time.Time
	bytes []byte
}

func (l *link) carry(from io.Reader, to net.Conn) {
	travelling := make(chan packet, 1024)
	go func() {
		defer to.Close()
		for p := range travelling {
			time.Sleep(time.Until(p.due))
			if _, err := to.Write(p.bytes); err != nil {
				break
			}
		}
		for range travelling { // lets the reader end
		}
	}()
	defer close(travelling)
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		travelling <- packet{time.Now().Add(l.delay), append([]byte(nil), buffer[:n]...)}
	}
}
