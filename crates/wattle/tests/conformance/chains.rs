//! `let` among other conditions: `if a && let b = c`.
//!
//! The bodies of [`twice!`] are compiled as kernels and as plain Rust; both must leave the same.

use wattle::prelude::*;

use crate::harness::Case;
use crate::twice::twice;

pub const CASES: &[Case] = &[("chains of `let` in `if`", chains), ("chains of `let` in `while`", repeated)];

twice! {
    chains chain_kernel chain_plain(n, out) 7 {
        if let 3..=50 = n && n > 5 {
            out[0] = 1;
        }
        out[1] = if n > 2 && let (3 | 4, half) = (n % 8, n / 2) && half > 1 { half } else { 100 };
        out[2] = if let (x, 0) = (n / 2, n % 2) && let (y, 0) = (x / 2, x % 2) && y > 0 {
            y
        } else if n > 50 && let 9 = n % 10 {
            9
        } else {
            1
        };
        if n == 42 && let 2 = n % 10 {
            out[3] = 3;
            return;
        }
        let left = if let 7 = n && out[0] == 1 { return } else { n };
        out[4] = left;
        for i in 0..10 {
            if i > n && let 1 = i % 3 {
                continue;
            }
            if i > 5 && let 8.. = n {
                break;
            }
            out[5] += i;
        }
        if n > 3 && let 0 = n % 2 { out[6] = 1 } else { out[6] = 2 }
    }

    repeated repeat_kernel repeat_plain(n, out) 3 {
        let mut left = n % 20;
        while left > 0 && let 1..=18 = left {
            if left % 5 == 4 {
                left -= 2;
                continue;
            }
            if left == 7 {
                out[0] = 7;
                break;
            }
            out[1] += left;
            left -= 1;
        }
        out[2] = left;
    }
}
