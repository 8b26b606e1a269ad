package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/jackc/pgx/v5"
)

// copyRows writes the binary form of COPY (PostgreSQL's manual, "COPY", file formats): a text vector
// would be four times as long and has to be parsed. Errors of the writer show at the end.
type copyRows struct{ out *bufio.Writer }

func (c copyRows) row(fields int) { c.number16(uint16(fields)) }

func (c copyRows) bytes(b []byte) {
	c.number32(uint32(len(b)))
	_, _ = c.out.Write(b)
}

func (c copyRows) text(s string) {
	c.number32(uint32(len(s)))
	_, _ = c.out.WriteString(s)
}

func (c copyRows) integer(n int32) {
	c.number32(4)
	c.number32(uint32(n))
}

func (c copyRows) vector(v []float32) { c.bytes(vectorBytes(v)) }

// vectorBytes is a vector as pgvector receives it: its dimensions, two unused bytes, the numbers.
func vectorBytes(v []float32) []byte {
	b := make([]byte, 0, 4+4*len(v))
	b = binary.BigEndian.AppendUint16(b, uint16(len(v)))
	b = append(b, 0, 0)
	for _, x := range v {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func (c copyRows) number16(n uint16) {
	_, _ = c.out.Write(binary.BigEndian.AppendUint16(c.out.AvailableBuffer(), n))
}

func (c copyRows) number32(n uint32) {
	_, _ = c.out.Write(binary.BigEndian.AppendUint32(c.out.AvailableBuffer(), n))
}

// copyInto fills the columns of a table with the rows that write writes. The table has to be empty
// since this transaction: then the rows are frozen at once and no log is written for them.
func copyInto(ctx context.Context, conn *pgx.Conn, columns string, write func(copyRows)) error {
	reader, writer := io.Pipe()
	go func() {
		c := copyRows{bufio.NewWriterSize(writer, 1<<20)}
		_, _ = c.out.WriteString("PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00")
		write(c)
		c.number16(math.MaxUint16) // -1: the end
		_ = writer.CloseWithError(c.out.Flush())
	}()
	_, err := conn.PgConn().CopyFrom(ctx, reader, "copy "+columns+" from stdin (format binary, freeze)")
	_ = reader.Close() // lets the writer end when the server refused
	if err != nil {
		return fmt.Errorf("copy %s: %w", columns, err)
	}
	return nil
}
