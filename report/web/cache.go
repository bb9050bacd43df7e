package web

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"
)

// cache keeps the values that were used last, up to a cost. A value that several
// want at once is made once; at most cap(busy) are made at a time.
type cache[V any] struct {
	most int64
	busy chan struct{}

	mu     sync.Mutex
	cost   int64
	order  *list.List // of *item[V], the last used first
	items  map[string]*list.Element
	making map[string]*making[V]
	hits   uint64
	misses uint64
}

type item[V any] struct {
	key   string
	value V
	cost  int64
}

type making[V any] struct {
	done  chan struct{}
	value V
	err   error
}

func newCache[V any](most int64, busy chan struct{}) *cache[V] {
	return &cache[V]{most: most, busy: busy, order: list.New(), items: map[string]*list.Element{}, making: map[string]*making[V]{}}
}

// peek returns a value without making one.
func (c *cache[V]) peek(key string) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.items[key]; e != nil {
		c.order.MoveToFront(e)
		return e.Value.(*item[V]).value, true
	}
	return v, false
}

// get returns the value of a key, and makes it where there is none. An error is
// not kept.
func (c *cache[V]) get(ctx context.Context, key string, produce func() (V, int64, error)) (V, error) {
	for {
		c.mu.Lock()
		if e := c.items[key]; e != nil {
			c.order.MoveToFront(e)
			c.hits++
			c.mu.Unlock()
			return e.Value.(*item[V]).value, nil
		}
		m := c.making[key]
		if m == nil {
			break
		}
		c.mu.Unlock()
		var none V
		select {
		case <-m.done:
			if !errors.Is(m.err, context.Canceled) && !errors.Is(m.err, context.DeadlineExceeded) {
				return m.value, m.err
			} // the one who made it left: try again
		case <-ctx.Done():
			return none, ctx.Err()
		}
	}
	c.misses++
	m := &making[V]{done: make(chan struct{})}
	c.making[key] = m
	c.mu.Unlock()

	cost := int64(0)
	select {
	case c.busy <- struct{}{}:
		func() {
			defer func() {
				<-c.busy
				if r := recover(); r != nil {
					m.err = fmt.Errorf("this run can't be analysed: %v", r)
				}
			}()
			m.value, cost, m.err = produce()
		}()
	case <-ctx.Done():
		m.err = ctx.Err()
	}
	c.mu.Lock()
	delete(c.making, key)
	if m.err == nil {
		c.keep(key, m.value, cost)
	}
	c.mu.Unlock()
	close(m.done)
	return m.value, m.err
}

// put keeps a value that was made elsewhere.
func (c *cache[V]) put(key string, v V, cost int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(key, v, cost)
}

func (c *cache[V]) keep(key string, v V, cost int64) {
	if e := c.items[key]; e != nil {
		c.drop(e)
	}
	c.items[key] = c.order.PushFront(&item[V]{key, v, cost})
	c.cost += cost
	for c.cost > c.most && c.order.Len() > 1 {
		c.drop(c.order.Back())
	}
}

func (c *cache[V]) drop(e *list.Element) {
	it := e.Value.(*item[V])
	c.order.Remove(e)
	delete(c.items, it.key)
	c.cost -= it.cost
}

// counts are for the metrics.
func (c *cache[V]) counts() (hits, misses uint64, cost int64, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hits, c.misses, c.cost, c.order.Len()
}
