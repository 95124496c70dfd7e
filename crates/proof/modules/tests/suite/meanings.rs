//! The meaning of instructions on registers, each against an evaluation that is written here from the PTX ISA, over words at
//! the edges and words at random.

use std::collections::HashMap;

use wattle_modules::{Effect, Thread, ptx};

/// The result of an instruction, in whose text `{d}` stands for the destination and `{a}` to `{c}` for the operands.
fn run(instruction: &str, bits: [u32; 4], inputs: [u64; 3]) -> u64 {
    let class = |bits: u32| ["h", "w", "i"][bits.trailing_zeros() as usize - 4];
    let mut code = instruction.to_owned();
    for (name, bits, number) in [("{d}", bits[0], 0), ("{a}", bits[1], 1), ("{b}", bits[2], 2), ("{c}", bits[3], 3)] {
        code = code.replace(name, &format!("%{}{number}", class(bits)));
    }
    let mut set = String::new();
    for (number, (bits, input)) in bits[1..].iter().zip(inputs).enumerate() {
        set += &format!("mov.b{bits} %{}{}, {};\n", class(*bits), number + 1, input & (u64::MAX >> (64 - bits)));
    }
    let text = format!(
        ".version 8.6\n.target sm_90\n.entry k()\n{{ .reg .b16 %h<5>; .reg .b32 %w<5>; .reg .b64 %i<5>; .reg .pred %p<3>;\n\
         {set}{code}\nst.global.b{} [4096], %{}0; }}",
        bits[0],
        class(bits[0])
    );
    let module = ptx::read("k.ptx", &text, ptx::Limits::NONE, &HashMap::new());
    let module = module.unwrap_or_else(|refused| panic!("{refused}"));
    let kernel = &module.kernels[0];
    let mut thread: Thread = Thread::new(kernel);
    let Effect::Store { values, .. } = thread.run(kernel, 100) else { panic!("{instruction}: it does not store") };
    thread.values(kernel, values).next().expect("it stores one value")
}

/// Words at the edges of all sizes, and random ones.
fn words() -> Vec<u64> {
    let edges = [0, 1, 2, 7, 8, 15, 16, 31, 32, 33, 63, 64, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF];
    let wide = [0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0x80FF_7F01, 1 << 63, u64::MAX, i64::MAX as u64];
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let random = std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    });
    edges.into_iter().chain(wide).chain(random.take(15)).collect()
}

/// Triples of words: each word in each place, with others that differ.
fn triples() -> Vec<[u64; 3]> {
    let words = words();
    let len = words.len();
    let pick = |at: usize| words[at % len];
    (0..len * 5).map(|at| [pick(at), pick(at * 7 + 3), pick(at * 11 + at / len)]).collect()
}

#[track_caller]
fn agrees(instruction: &str, bits: [u32; 4], expected: impl Fn(u64, u64, u64) -> u64) {
    for inputs in triples() {
        let [a, b, c] = [0, 1, 2].map(|at| inputs[at] & (u64::MAX >> (64 - bits[at + 1])));
        let (found, expected) = (run(instruction, bits, inputs), expected(a, b, c) & (u64::MAX >> (64 - bits[0])));
        assert_eq!(found, expected, "{instruction} of {a:#x}, {b:#x}, {c:#x}: {found:#x} for {expected:#x}");
    }
}

const W: [u32; 4] = [32; 4];

fn byte(word: u64, at: u64) -> u64 {
    word >> (8 * at) & 0xFF
}

fn signed(word: u64, bits: u32) -> i128 {
    let word = i128::from(word & (u64::MAX >> (64 - bits)));
    if word >> (bits - 1) & 1 == 1 { word - (1i128 << bits) } else { word }
}

#[test]
fn funnel_shifts_take_both_words() {
    // 9.7.8.8: the pseudo-code's two cases, with a shift of 32 written out.
    let left = |a: u64, b: u64, n: u64| {
        if n == 0 {
            b
        } else if n == 32 {
            a
        } else {
            b << n | a >> (32 - n)
        }
    };
    let right = |a: u64, b: u64, n: u64| {
        if n == 0 {
            a
        } else if n == 32 {
            b
        } else {
            b << (32 - n) | a >> n
        }
    };
    agrees("shf.l.wrap.b32 {d}, {a}, {b}, {c};", W, |a, b, c| left(a, b, c % 32));
    agrees("shf.l.clamp.b32 {d}, {a}, {b}, {c};", W, |a, b, c| left(a, b, c.min(32)));
    agrees("shf.r.wrap.b32 {d}, {a}, {b}, {c};", W, |a, b, c| right(a, b, c % 32));
    agrees("shf.r.clamp.b32 {d}, {a}, {b}, {c};", W, |a, b, c| right(a, b, c.min(32)));
}

#[test]
fn tables_of_three_operands() {
    // 9.7.8.6: a table is the function of 0xF0, 0xCC and 0xAA.
    agrees("lop3.b32 {d}, {a}, {b}, {c}, 0x80;", W, |a, b, c| a & b & c);
    agrees("lop3.b32 {d}, {a}, {b}, {c}, 0x96;", W, |a, b, c| a ^ b ^ c);
    agrees("lop3.b32 {d}, {a}, {b}, {c}, 0xE8;", W, |a, b, c| a & b | a & c | b & c);
    agrees("lop3.b32 {d}, {a}, {b}, {c}, 0xCA;", W, |a, b, c| a & b | !a & c);
    for table in (0..256).step_by(13) {
        agrees(&format!("lop3.b32 {{d}}, {{a}}, {{b}}, {{c}}, {table};"), W, |a, b, c| lut(table, a, b, c));
    }
    agrees("lop3.b32 {d}, {a}, {b}, {c}, 0;", W, |_, _, _| 0);
    agrees("lop3.b32 {d}, {a}, {b}, {c}, 255;", W, |_, _, _| u64::MAX);
}

#[test]
fn a_table_sets_a_predicate_too() {
    // 9.7.8.6: p = (d != 0) BoolOp q.
    let both = |op: &str, q: &str| {
        format!(
            "setp.gt.u32 %p1, {{c}}, 0x7FFF;\nlop3.{op}.b32 %w4|%p0, {{a}}, {{b}}, {{c}}, 0x80, {q};\n\
             @%p0 add.u32 %w4, %w4, 1;\nmov.b32 {{d}}, %w4;"
        )
    };
    let d = |a: u64, b: u64, c: u64| a & b & c;
    agrees(&both("or", "%p1"), W, |a, b, c| d(a, b, c) + u64::from(d(a, b, c) != 0 || c > 0x7FFF));
    agrees(&both("and", "%p1"), W, |a, b, c| d(a, b, c) + u64::from(d(a, b, c) != 0 && c > 0x7FFF));
    agrees(&both("and", "!%p1"), W, |a, b, c| d(a, b, c) + u64::from(d(a, b, c) != 0 && c <= 0x7FFF));
    agrees("lop3.or.b32 _|%p0, {a}, {b}, {c}, 0x80, !%p1;\nselp.u32 {d}, 1, 0, %p0;", W, |_, _, _| 1);
    agrees("lop3.and.b32 _|%p0, {a}, {b}, {c}, 0x96, 1;\nselp.u32 {d}, 1, 0, %p0;", W, |a, b, c| {
        u64::from(a ^ b ^ c != 0)
    });
}

#[test]
fn numbers_are_packed_within_their_fields_range() {
    // 9.7.9.22, with the fields as they are written: bit by bit for the two numbers, and the third word above them.
    for (name, bits, least, most) in [
        ("u16", 16, 0, 0xFFFF),
        ("s16", 16, -0x8000, 0x7FFF),
        ("u8", 8, 0, 255),
        ("s8", 8, -128, 127),
        ("u4", 4, 0, 15),
        ("s4", 4, -8, 7),
        ("u2", 2, 0, 3),
        ("s2", 2, -2, 1),
    ] {
        let field = |word: u64| {
            let number = signed(word, 32);
            let limited = if number < least {
                least
            } else if number > most {
                most
            } else {
                number
            };
            limited.rem_euclid(1 << bits) as u64
        };
        let (third, operand) = if bits == 16 { ("", "") } else { (".b32", ", {c}") };
        agrees(&format!("cvt.pack.sat.{name}.s32{third} {{d}}, {{a}}, {{b}}{operand};"), W, |a, b, c| {
            let above = if bits == 16 { 0 } else { c << (2 * bits) };
            above + (field(a) << bits) + field(b)
        });
    }
}

/// A table, bit by bit.
fn lut(table: u64, a: u64, b: u64, c: u64) -> u64 {
    (0..32).map(|at| (table >> ((a >> at & 1) << 2 | (b >> at & 1) << 1 | c >> at & 1) & 1) << at).sum()
}

#[test]
fn bytes_are_permuted() {
    let of = |a: u64, b: u64, which: u64| byte(if which & 4 == 0 { a } else { b }, which & 3);
    let four = |bytes: [u64; 4]| bytes[0] | bytes[1] << 8 | bytes[2] << 16 | bytes[3] << 24;
    agrees("prmt.b32 {d}, {a}, {b}, {c};", W, |a, b, c| {
        four([0, 4, 8, 12].map(|shift| {
            let which = c >> shift & 15;
            let found = of(a, b, which & 7);
            if which < 8 {
                found
            } else if found >= 0x80 {
                0xFF
            } else {
                0
            }
        }))
    });
    // 9.7.9.7: the tables of the modes, from byte 3 down to byte 0.
    let modes: [(&str, [[u64; 4]; 4]); 6] = [
        ("f4e", [[3, 2, 1, 0], [4, 3, 2, 1], [5, 4, 3, 2], [6, 5, 4, 3]]),
        ("b4e", [[5, 6, 7, 0], [6, 7, 0, 1], [7, 0, 1, 2], [0, 1, 2, 3]]),
        ("rc8", [[0; 4], [1; 4], [2; 4], [3; 4]]),
        ("ecl", [[3, 2, 1, 0], [3, 2, 1, 1], [3, 2, 2, 2], [3, 3, 3, 3]]),
        ("ecr", [[0, 0, 0, 0], [1, 1, 1, 0], [2, 2, 1, 0], [3, 2, 1, 0]]),
        ("rc16", [[1, 0, 1, 0], [3, 2, 3, 2], [1, 0, 1, 0], [3, 2, 3, 2]]),
    ];
    for (mode, rows) in modes {
        agrees(&format!("prmt.b32.{mode} {{d}}, {{a}}, {{b}}, {{c}};"), W, |a, b, c| {
            let [three, two, one, zero] = rows[c as usize & 3];
            four([zero, one, two, three].map(|which| of(a, b, which)))
        });
    }
}

#[test]
fn dot_products_and_distances() {
    for (a_ty, b_ty) in [("u32", "u32"), ("u32", "s32"), ("s32", "u32"), ("s32", "s32")] {
        let value = |ty: &str, word: u64, bits: u32| if ty == "s32" { signed(word, bits) } else { word as i128 };
        agrees(&format!("dp4a.{a_ty}.{b_ty} {{d}}, {{a}}, {{b}}, {{c}};"), W, |a, b, c| {
            let products = (0..4).map(|at| value(a_ty, byte(a, at), 8) * value(b_ty, byte(b, at), 8));
            (products.sum::<i128>() + c as i128) as u64
        });
        for (half, first) in [("lo", 0), ("hi", 2)] {
            agrees(&format!("dp2a.{half}.{a_ty}.{b_ty} {{d}}, {{a}}, {{b}}, {{c}};"), W, |a, b, c| {
                let part = |at: u64| value(a_ty, a >> (16 * at) & 0xFFFF, 16) * value(b_ty, byte(b, first + at), 8);
                (part(0) + part(1) + c as i128) as u64
            });
        }
    }
    agrees("sad.u32 {d}, {a}, {b}, {c};", W, |a, b, c| c.wrapping_add(a.abs_diff(b)));
    agrees("sad.s32 {d}, {a}, {b}, {c};", W, |a, b, c| (c as i128 + (signed(a, 32) - signed(b, 32)).abs()) as u64);
    agrees("sad.s16 {d}, {a}, {b}, {c};", [16; 4], |a, b, c| {
        (c as i128 + (signed(a, 16) - signed(b, 16)).abs()) as u64
    });
    agrees("sad.u64 {d}, {a}, {b}, {c};", [64; 4], |a, b, c| c.wrapping_add(a.abs_diff(b)));
}

#[test]
fn products_of_24_bits_and_saturated_ones() {
    let product = |a: u64, b: u64, is_signed: bool| {
        let of = |word: u64| if is_signed { signed(word, 24) } else { i128::from(word & 0xFF_FFFF) };
        of(a) * of(b)
    };
    let clamp = |value: i128| value.clamp(i32::MIN.into(), i32::MAX.into()) as u64;
    for (ty, is_signed) in [("u32", false), ("s32", true)] {
        agrees(&format!("mul24.lo.{ty} {{d}}, {{a}}, {{b}};"), W, |a, b, _| product(a, b, is_signed) as u64);
        agrees(&format!("mul24.hi.{ty} {{d}}, {{a}}, {{b}};"), W, |a, b, _| (product(a, b, is_signed) >> 16) as u64);
        agrees(&format!("mad24.lo.{ty} {{d}}, {{a}}, {{b}}, {{c}};"), W, |a, b, c| {
            (product(a, b, is_signed) + c as i128) as u64
        });
        agrees(&format!("mad24.hi.{ty} {{d}}, {{a}}, {{b}}, {{c}};"), W, |a, b, c| {
            ((product(a, b, is_signed) >> 16) + c as i128) as u64
        });
    }
    agrees("mad24.hi.sat.s32 {d}, {a}, {b}, {c};", W, |a, b, c| {
        clamp(signed((product(a, b, true) >> 16) as u64, 32) + signed(c, 32))
    });
    agrees("mad.hi.sat.s32 {d}, {a}, {b}, {c};", W, |a, b, c| {
        clamp(((signed(a, 32) * signed(b, 32)) >> 32) + signed(c, 32))
    });
}

#[test]
fn products_with_a_carry() {
    // 128 bits of a product and a sum, in words: the carry goes through all of them.
    agrees("mad.lo.cc.u32 %w4, {a}, {b}, {c}; madc.hi.u32 {d}, {a}, {b}, {c};", W, |a, b, c| {
        ((u128::from(a) * u128::from(b) + (u128::from(c) << 32 | u128::from(c))) >> 32) as u64
    });
    agrees("mad.lo.cc.u64 %i4, {a}, {b}, {c}; madc.hi.cc.u64 {d}, {a}, {b}, {c};", [64; 4], |a, b, c| {
        (u128::from(a) * u128::from(b)).wrapping_add(u128::from(c) << 64 | u128::from(c)).wrapping_shr(64) as u64
    });
    agrees("mad.hi.cc.s32 %w4, {a}, {b}, {c}; addc.u32 {d}, 0, 0;", W, |a, b, c| {
        let high = ((signed(a, 32) * signed(b, 32)) >> 32) as u64 & 0xFFFF_FFFF;
        (high + c) >> 32
    });
    // A scope of its own, as CUDA's headers write it.
    agrees("{.reg.b32 t; add.u32 t, {a}, {b}; sub.u32 {d}, t, {c};}", W, |a, b, c| a.wrapping_add(b).wrapping_sub(c));
    agrees("madc.lo.u32 {d}, {a}, {b}, {c};", W, |a, b, c| a.wrapping_mul(b).wrapping_add(c));
}

#[test]
fn fields_and_masks() {
    let field = |position: u64, length: u64, bits: u64| -> Vec<u64> {
        (0..bits).filter(|&at| at >= position && at < position + length).collect()
    };
    for bits in [32u32, 64] {
        let code = format!("bfi.b{bits} {{d}}, {{a}}, {{b}}, {{c}}, %w4;");
        for length in [0u64, 1, 8, 31, 32, 64, 255, 256 + 8] {
            agrees(&format!("mov.u32 %w4, {length}; {code}"), [bits, bits, bits, 32], |a, b, c| {
                field(c & 255, length & 255, bits.into()).into_iter().fold(b, |d, at| {
                    let from = at - (c & 255);
                    d & !(1 << at) | (a >> from & 1) << at
                })
            });
        }
    }
    let mask = |a: u64, b: u64| field(a, b, 32).into_iter().map(|at| 1 << at).sum::<u64>();
    agrees("bmsk.clamp.b32 {d}, {a}, {b};", W, |a, b, _| mask(a, b));
    agrees("bmsk.wrap.b32 {d}, {a}, {b};", W, |a, b, _| mask(a % 32, b % 32));
    let extended = |a: u64, bits: u64| if bits == 0 { 0 } else { signed(a, bits as u32) as u64 };
    agrees("szext.clamp.s32 {d}, {a}, {b};", W, |a, b, _| extended(a, b.min(32)));
    agrees("szext.wrap.s32 {d}, {a}, {b};", W, |a, b, _| extended(a, b % 32));
    agrees("szext.clamp.u32 {d}, {a}, {b};", W, |a, b, _| a & ((1 << b.min(32)) - 1));
    agrees("bfind.shiftamt.u32 {d}, {a};", W, |a, _, _| if a == 0 { u64::MAX } else { a.leading_zeros() as u64 - 32 });
    agrees("bfind.shiftamt.s64 {d}, {a};", [32, 64, 32, 32], |a, _, _| {
        let a = if a >> 63 == 1 { !a } else { a };
        if a == 0 { u64::MAX } else { a.leading_zeros().into() }
    });
    agrees("fns.b32 {d}, {a}, {b}, {c};", W, |a, b, c| {
        let (base, offset) = (b & 31, signed(c, 32));
        let mut left = offset;
        let mut at = base as i128;
        while (0..32).contains(&at) {
            let step = if offset < 0 { -1 } else { 1 };
            if a >> at & 1 == 1 {
                left -= step;
                if left == 0 || offset == 0 {
                    return at as u64;
                }
            }
            if offset == 0 {
                break;
            }
            at += step;
        }
        u64::MAX
    });
}

#[test]
fn choices_and_results_of_comparisons() {
    agrees("slct.b32.s32 {d}, {a}, {b}, {c};", W, |a, b, c| if signed(c, 32) >= 0 { a } else { b });
    agrees(
        "slct.u64.f32 {d}, {a}, {b}, {c};",
        [64, 64, 64, 32],
        |a, b, c| {
            if f32::from_bits(c as u32) >= 0.0 { a } else { b }
        },
    );
    agrees("set.lt.u32.s32 {d}, {a}, {b};", W, |a, b, _| if signed(a, 32) < signed(b, 32) { u64::MAX } else { 0 });
    agrees("set.ge.f32.u32 {d}, {a}, {b};", W, |a, b, _| if a >= b { 0x3F80_0000 } else { 0 });
    agrees("setp.ne.u32 %p1, {c}, 0; set.gtu.or.s32.f32 {d}, {a}, {b}, !%p1;", W, |a, b, c| {
        let (a, b) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
        if a > b || a.is_nan() || b.is_nan() || c == 0 { u64::MAX } else { 0 }
    });
}

/// The format of matrices has ten bits behind the leading one, and is rounded to the nearest, ties away from zero.
#[test]
fn floats_of_matrices() {
    agrees("cvt.rna.tf32.f32 {d}, {a};", W, |a, _, _| {
        let exact = f64::from(f32::from_bits(a as u32));
        if exact.is_nan() {
            return 0x7FFF_FFFF;
        }
        if exact.is_infinite() || exact == 0.0 {
            return a;
        }
        let unit = 2f64.powi((exact.abs().log2().floor() as i32).max(-126) - 10);
        let rounded = ((exact.abs() / unit + 0.5).floor() * unit).copysign(exact);
        u64::from((rounded as f32).to_bits())
    });
}

/// Behind a difference the flag is the carry of the sum that it is: set where nothing is borrowed.
#[test]
fn sums_behind_differences() {
    for (first, second) in [("sub.cc", "addc"), ("sub.cc", "subc"), ("add.cc", "addc"), ("add.cc", "subc")] {
        agrees(&format!("{first}.u32 %w4, {{a}}, {{b}}; {second}.u32 {{d}}, {{c}}, 1;"), W, |a, b, c| {
            let flag = if first == "sub.cc" { a >= b } else { a + b > u64::from(u32::MAX) };
            if second == "addc" { c + 1 + u64::from(flag) } else { c.wrapping_sub(1).wrapping_sub(u64::from(!flag)) }
        });
    }
}
