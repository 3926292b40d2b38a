package api

import (
	"crypto/sha256"
	"strings"
	"sync"

	"holdfast/internal/domain/access"
)

// callerOf names who sends a request: the token, if a request with it was let in lately, or else the address. Tokens that
// nobody has seen do not count, because a stranger can make up as many as he likes.
func (d *door) callerOf(c *call) string {
	if caller := d.known.find(bearer(c.r)); caller != "" {
		return caller
	}
	return byAddress + network(c.address)
}

// byAddress begins the name of a caller whose token is none that was let in lately.
const byAddress = "address "

func isStranger(caller string) bool { return strings.HasPrefix(caller, byAddress) }

// knownCallers remembers who sends the tokens that were let in lately: a bounded number of them, by their digests.
type knownCallers struct {
	mu          sync.Mutex
	young, aged map[[sha256.Size]byte]string
}

const rememberedCallers = 4096 // twice that, before the older half is forgotten

// find names the caller, "" when the token is new.
func (k *knownCallers) find(token string) string {
	if token == "" {
		return ""
	}
	digest := sha256.Sum256([]byte(token))
	k.mu.Lock()
	defer k.mu.Unlock()
	if caller := k.young[digest]; caller != "" {
		return caller
	}
	caller := k.aged[digest]
	if caller != "" {
		k.keep(digest, caller)
	}
	return caller
}

func (k *knownCallers) keep(digest [sha256.Size]byte, caller string) {
	if len(k.young) >= rememberedCallers {
		k.aged, k.young = k.young, nil
	}
	if k.young == nil {
		k.young = map[[sha256.Size]byte]string{}
	}
	k.young[digest] = caller
}

// learn notes that a token was let in, or with the zero actor that it was not.
func (k *knownCallers) learn(token string, actor access.Actor) {
	digest := sha256.Sum256([]byte(token))
	k.mu.Lock()
	defer k.mu.Unlock()
	if caller := actor.Caller(); caller != "" {
		k.keep(digest, caller)
		return
	}
	delete(k.young, digest)
	delete(k.aged, digest)
}

// strangers bounds the requests whose tokens nobody knows. A stranger can make up as many tokens as he likes, from as many addresses as
// he has: their requests come in a crowd, and each costs a look into the database. A client that begins has one token, which is known as
// soon as its first request was looked up.
type strangers struct {
	requests int // at most
	tokens   int // different ones, at most

	mu      sync.Mutex
	arrived int
	of      map[string]int // by token
}

// arrive counts a request with a token, or refuses it. Unless it returns an error, leave must follow.
func (s *strangers) arrive(token string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.arrived >= s.requests || s.of[token] == 0 && len(s.of) >= s.tokens {
		return errFull()
	}
	if s.of == nil {
		s.of = map[string]int{}
	}
	s.of[token]++
	s.arrived++
	return nil
}

// leave ends what arrive has begun.
func (s *strangers) leave(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arrived--
	if s.of[token]--; s.of[token] == 0 {
		delete(s.of, token)
	}
}

// meet ends what holds for a stranger: the token of the request was looked up, or nobody needs to know it any more.
func (c *call) meet() {
	if c.stranger {
		c.stranger = false
		c.door.unknown.leave(bearer(c.r))
	}
}
