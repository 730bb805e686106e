// Garbage is a benchmark whose operations leave garbage behind, so that its
// instructions depend on when the collector runs, and on which thread. Its
// argument is the number of operations.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

func operation(m map[string][]byte, i int) {
	m[strconv.Itoa(i%1000)] = make([]byte, 4096)
}

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "usage: garbage OPERATIONS")
		os.Exit(2)
	}
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			m := map[string][]byte{}
			for i := range n / 4 {
				operation(m, i)
			}
		})
	}
	workers.Wait()
}
