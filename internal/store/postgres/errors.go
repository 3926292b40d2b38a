package postgres

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// readOnlyServer is the SQLSTATE of a write on a server that takes none: a standby, or the former primary after a
// failover.
const readOnlyServer = "25006"

// startingUp is the SQLSTATE of a server that is starting or stopping.
const startingUp = "57P03"

// ofCitus is the SQLSTATE of Citus errors without a code of their own.
const ofCitus = "XX000"

// code returns the SQLSTATE inside an error, or "".
func code(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// Conflict reports whether a constraint was violated.
func Conflict(err error) bool { return strings.HasPrefix(code(err), "23") }

// Transient reports whether the same transaction may succeed later: after a serialization failure or a deadlock.
func Transient(err error) bool {
	c := code(err)
	return c == "40001" || c == "40P01"
}

// Unreachable reports whether the server cannot be used.
func Unreachable(err error) bool {
	c := code(err)
	netErr, isNet := errors.AsType[net.Error](err)
	connErr, isConn := errors.AsType[*pgconn.ConnectError](err)
	return isNet && netErr != nil || isConn && connErr != nil || Lost(err) ||
		// connection exceptions, resources exhausted, an operator's shutdown, a statement timeout, a lock timeout, an
		// error of the server's disk
		strings.HasPrefix(c, "08") || strings.HasPrefix(c, "53") || strings.HasPrefix(c, "57") || c == "55P03" || c == "58030"
}

// Lost reports whether the connection is lost, or its server accepts no writes. Another connection may work.
func Lost(err error) bool {
	for _, cut := range []error{
		io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, pgconn.ErrConnClosed, driver.ErrBadConn, sql.ErrConnDone,
	} {
		if errors.Is(err, cut) {
			return true
		}
	}
	if _, cut := errors.AsType[*net.OpError](err); cut {
		return true
	}
	// An operator or a crash has ended the session, the server starts, or the transaction was idle for too long.
	return slices.Contains([]string{"57P01", "57P02", startingUp, "25P03", readOnlyServer}, code(err))
}

// ReadOnly reports whether the server accepts no writes.
func ReadOnly(err error) bool { return code(err) == readOnlyServer }

// Stuck reports whether the disk is full or broken, or the server accepts no writes.
func Stuck(err error) bool {
	return slices.Contains([]string{"53100", "58030", readOnlyServer}, code(err))
}

// Refused reports whether the server does not accept connections. One that is starting or stopping counts, too.
func Refused(err error) bool {
	refused, isRefused := errors.AsType[*pgconn.ConnectError](err)
	c := code(err)
	return isRefused && refused != nil && (c == "" || c == startingUp)
}

// SumTooLarge reports whether a sum exceeds 64 bits.
func SumTooLarge(err error) bool { return code(err) == "22003" }

// NotCommitted reports whether an error of a commit means that nothing is stored. pgconn.SafeToRetry does not help: it
// says yes of a COMMIT whose response was cut off. An error of Citus means that a node was lost, which may have stored
// the changes.
func NotCommitted(err error) bool {
	answer, answered := errors.AsType[*pgconn.PgError](err)
	return code(err) != ofCitus && (answered && answer.SeverityUnlocalized == "ERROR" ||
		errors.Is(err, pgx.ErrTxCommitRollback) || errors.Is(err, sql.ErrTxDone))
}

// LostNode reports whether Citus has lost the connection to a node, or its own server.
func LostNode(err error) bool {
	text := ""
	if code(err) == ofCitus {
		text = err.Error()
	}
	return strings.Contains(text, "failure on connection marked as essential") || strings.Contains(text, "postmaster was shut down")
}

// MixedUp reports whether a statement referred to a statement prepared on another connection, as happens behind a transaction pooler.
func MixedUp(err error) bool { return slices.Contains([]string{"26000", "42P05"}, code(err)) }
