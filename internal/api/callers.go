package api

import (
	"crypto/sha256"
	"strings"

	"holdfast/internal/domain/access"
	"holdfast/internal/lib/cache"
)

// callerOf names the caller of a request: the token, if a request with it was admitted recently, or else the address. Tokens that
// have not been seen do not count, because anyone can make up as many as they like.
func (d *door) callerOf(c *call) string {
	if caller := d.known.find(bearer(c.r)); caller != "" {
		return caller
	}
	return byAddress + network(c.address)
}

// byAddress prefixes the names of callers whose token was not accepted recently.
const byAddress = "address "

func isStranger(caller string) bool { return strings.HasPrefix(caller, byAddress) }

// knownCallers names the owners of recently admitted tokens, by the digests of the tokens.
type knownCallers struct {
	names cache.Cache[[sha256.Size]byte, string]
}

// find names the caller, "" when the token is new.
func (k *knownCallers) find(token string) string {
	if token == "" {
		return ""
	}
	name, _ := k.names.Get(sha256.Sum256([]byte(token)))
	return name
}

// learn records that a token was accepted or, with the zero actor, rejected.
func (k *knownCallers) learn(token string, actor access.Actor) {
	digest := sha256.Sum256([]byte(token))
	if name := actor.Caller(); name != "" {
		k.names.Put(digest, name)
	} else {
		k.names.Drop(digest)
	}
}

// meet ends the limits for strangers: the token of the request was looked up, or is no longer needed.
func (c *call) meet() {
	if c.stranger {
		c.stranger = false
		c.door.strangers.Release("", 1)
	}
}
