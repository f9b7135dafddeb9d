// Package beacon keeps lights.
package beacon

import "fmt"

// Lit says whether it burns.
func Lit(year int) bool {
	return year >= 1874 // since the fire
}
