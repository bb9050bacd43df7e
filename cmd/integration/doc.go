// Package integration holds the tests of the built program against real
// servers: nginx, a Go program on PostgreSQL, and headroom's own service in a
// process of its own. They start what they need from the programs installed on
// the machine, on loopback ports, and take it down again.
package integration
