//! Control flow.
use wattle::prelude::*;

fn one() -> ThreadSpec<1> {
    ThreadSpec::new(1, 1)
}

#[kernel]
fn branches(acc: &Acc, n: u32, out: Shared<u32>) {
    let size = if n < 3 {
        1
    } else if n < 6 {
        2
    } else {
        3
    };
    out[0] = size + acc.thread_in_grid();
    let mut sum = 0;
    if n % 2 == 0 {
        sum += 10;
        if n > 4 {
            sum += 100;
        }
    }
    out[1] = sum;
    // A branch that leaves.
    let half = if n == 7 {
        out[2] = 77;
        return;
    } else {
        n / 2
    };
    out[2] = half;
    out[3] = {
        let a = half + 1;
        let b = a * 2;
        a + b
    };
    let nested = if n > 1 { if n > 2 { if n > 3 { 4 } else { 3 } } else { 2 } } else { 1 };
    out[4] = nested;
}

#[test]
fn branches_give_values() {
    for n in 0..9u32 {
        let size = if n < 3 {
            1
        } else if n < 6 {
            2
        } else {
            3
        };
        let sum = if n % 2 == 0 { if n > 4 { 110 } else { 10 } } else { 0 };
        let expected = if n == 7 { [size, sum, 77, 0, 0] } else { [size, sum, n / 2, (n / 2 + 1) * 3, n.clamp(1, 4)] };
        expect!(one(), expected, |_device, out| branches(n, &out));
    }
}

const LIMIT: i32 = 40;

#[kernel]
fn choices(acc: &Acc, n: i32, out: Shared<i32>) {
    out[0] = match n {
        0 => 100,
        1 | 2 => 200,
        3..=5 => 300,
        6..10 => 400,
        -3 => 450,
        LIMIT => 500,
        i32::MAX => 600,
        other => other + 1,
    };
    match n {
        0 => {}
        1 => out[1] = 5,
        _ => {
            let twice = n.min(1000) * 2;
            out[1] = match twice {
                4 => match n {
                    2 => 7,
                    _ => 8,
                },
                _ => 9,
            };
        }
    }
    out[2] = match n > 0 {
        true => 1,
        _ => 2,
    };
    out[3] = match acc.thread_in_grid() {
        0 => n,
        _ => return,
    };
}

#[test]
fn choices_give_values() {
    for n in [0, 1, 2, 3, 5, 6, 9, 10, -3, 40, i32::MAX, -7] {
        let first = match n {
            0 => 100,
            1 | 2 => 200,
            3..=5 => 300,
            6..10 => 400,
            -3 => 450,
            LIMIT => 500,
            i32::MAX => 600,
            x => x + 1,
        };
        let second = match n {
            0 => 0,
            1 => 5,
            2 => 7,
            _ => 9,
        };
        expect!(one(), [first, second, if n > 0 { 1 } else { 2 }, n], |_device, out| choices(n, &out));
    }
}

#[kernel]
fn loops(acc: &Acc, n: u32, out: Shared<u32>) {
    let mut k = acc.thread_in_grid();
    while k < n {
        k += 1;
        if k == 3 {
            continue;
        }
        if k == 8 {
            break;
        }
        out[0] += k;
    }
    let mut rounds = 0;
    'outer: loop {
        rounds += 1;
        let mut j = 0;
        loop {
            j += 1;
            if j > rounds {
                continue 'outer;
            }
            if rounds * j > n {
                break 'outer;
            }
            out[1] += 1;
        }
    }
    out[2] = rounds;
    'a: for x in 0..n {
        'b: for y in 0..n {
            if y == 2 {
                continue 'a;
            }
            if x == 4 {
                break 'a;
            }
            if x == 1 {
                break 'b;
            }
            out[3] += x * 10 + y;
        }
        out[3] += 1000;
    }
    while out[4] < 5 && {
        k += 1;
        k < 100
    } {
        out[4] += 1;
    }
    out[5] = k;
}

fn loops_in_rust(n: u32) -> [u32; 6] {
    let mut out = [0; 6];
    let mut k = 0;
    while k < n {
        k += 1;
        if k == 3 {
            continue;
        }
        if k == 8 {
            break;
        }
        out[0] += k;
    }
    let mut rounds = 0;
    'outer: loop {
        rounds += 1;
        let mut j = 0;
        loop {
            j += 1;
            if j > rounds {
                continue 'outer;
            }
            if rounds * j > n {
                break 'outer;
            }
            out[1] += 1;
        }
    }
    out[2] = rounds;
    'a: for x in 0..n {
        'b: for y in 0..n {
            if y == 2 {
                continue 'a;
            }
            if x == 4 {
                break 'a;
            }
            if x == 1 {
                break 'b;
            }
            out[3] += x * 10 + y;
        }
        out[3] += 1000;
    }
    while out[4] < 5 && {
        k += 1;
        k < 100
    } {
        out[4] += 1;
    }
    out[5] = k;
    out
}

#[test]
fn loops_and_labels() {
    for n in [0, 1, 2, 5, 7, 12] {
        expect!(one(), loops_in_rust(n), |_device, out| loops(n, &out));
    }
}

#[kernel]
fn ranges(acc: &Acc, begin: u32, end: u32, out: Shared<u64>) {
    let mut at = acc.thread_in_grid();
    for i in begin..end {
        out[at] = i as u64;
        at += 1;
    }
    for i in begin..=end {
        out[at] = i as u64;
        at += 1;
    }
    for i in (begin..end).rev() {
        if i == 3 {
            continue;
        }
        out[at] = i as u64;
        at += 1;
    }
    for i in (begin..end).step_by(2) {
        out[at] = i as u64;
        at += 1;
    }
    for i in 250..=255u8 {
        out[at] = i as u64;
        at += 1;
    }
    for i in -2..2i64 {
        out[at] = (i + 2) as u64;
        at += 1;
    }
    for _ in 0..2 {
        out[at] = 1;
        at += 1;
    }
    let mut last = end;
    for i in begin..last {
        // The end is worked out once.
        last = 0;
        out[at] = (i + last) as u64;
        at += 1;
    }
    for mut i in 0..3u32 {
        i *= 10;
        out[at] = i as u64;
        at += 1;
    }
}

#[test]
fn ranges_are_those_of_rust() {
    for (begin, end) in [(0u32, 5u32), (2, 7), (4, 4), (5, 3), (u32::MAX - 2, u32::MAX)] {
        let mut expected: Vec<u64> = (begin..end).map(u64::from).collect();
        expected.extend((begin..=end).map(u64::from));
        expected.extend((begin..end).rev().filter(|i| *i != 3).map(u64::from));
        expected.extend((begin..end).step_by(2).map(u64::from));
        expected.extend(250..=255);
        expected.extend([0, 1, 2, 3, 1, 1]);
        expected.extend((begin..end).map(u64::from));
        expected.extend([0, 10, 20]);
        expected.push(0);
        expect!(one(), expected.clone(), |_device, out| ranges(begin, end, &out));
    }
}

#[kernel]
fn order(acc: &Acc, log: Shared<u32>, counter: Atomic<u32>, out: Shared<u32>) {
    // Left to right, and an operand is what it was when its turn came.
    out[0] = counter.fetch_add(0, 1) * 10 + counter.fetch_add(0, 1);
    let mut x = 1 + acc.thread_in_grid();
    out[1] = x
        + {
            x = 5;
            x
        } * 10
        + x * 100;
    let pair = (
        x,
        {
            x += 1;
            x
        },
        x,
    );
    out[2] = pair.0 * 100 + pair.1 * 10 + pair.2;
    let array = [
        x,
        {
            x = 2;
            3
        },
        x,
    ];
    out[3] = array[0] * 100 + array[1] * 10 + array[2];
    // The value, then the place.
    let mut i = 4;
    out[{
        i += 1;
        i - 1
    }] = i;
    let mut j = 5;
    out[{
        j += 1;
        j - 1
    }] += j;
    x = {
        x += 1;
        x
    } + x;
    out[6] = x;
    let before = x;
    x += {
        x = 100;
        1
    };
    out[7] = x + before * 1000;
    out[counter.fetch_add(0, 1) - 2 + 12] = counter.fetch_add(0, 1);
    counter.store(0, 2);
    // Short circuit: the right side is evaluated where it is needed, and nowhere else.
    let a = counter.load(0) > 100 && counter.fetch_add(0, 10) > 0;
    let b = counter.load(0) > 0 || counter.fetch_add(0, 20) > 0;
    let c = counter.load(0) > 0 && counter.fetch_add(0, 40) == 2 && log[counter.load(0) - 42] == 0;
    out[8] = a as u32 + b as u32 * 10 + c as u32 * 100;
    out[9] = counter.load(0);
    let held = x;
    x = 7;
    out[10] = held * 10 + x;
    if x == 8 || {
        x = 9;
        x == 9
    } {
        out[11] = x;
    }
}

#[allow(unused_assignments, reason = "it follows the kernel")]
fn order_in_rust() -> [u32; 14] {
    let (count, mut out, log) = (std::cell::Cell::new(0u32), [0; 14], [0u32]);
    let fetch_add = |more: u32| count.replace(count.get() + more);
    out[0] = fetch_add(1) * 10 + fetch_add(1);
    let mut x = 1;
    out[1] = x
        + {
            x = 5;
            x
        } * 10
        + x * 100;
    let pair = (
        x,
        {
            x += 1;
            x
        },
        x,
    );
    out[2] = pair.0 * 100 + pair.1 * 10 + pair.2;
    let array = [
        x,
        {
            x = 2;
            3
        },
        x,
    ];
    out[3] = array[0] * 100 + array[1] * 10 + array[2];
    let mut i = 4;
    out[{
        i += 1;
        i - 1
    }] = i as u32;
    let mut j = 5;
    out[{
        j += 1;
        j - 1
    }] += j as u32;
    x = {
        x += 1;
        x
    } + x;
    out[6] = x;
    let before = x;
    x += {
        x = 100;
        1
    };
    out[7] = x + before * 1000;
    let value = fetch_add(1);
    out[fetch_add(1) as usize - 2 + 12] = value;
    count.set(2);
    let a = count.get() > 100 && fetch_add(10) > 0;
    let b = count.get() > 0 || fetch_add(20) > 0;
    let c = count.get() > 0 && fetch_add(40) == 2 && log[count.get() as usize - 42] == 0;
    out[8] = a as u32 + b as u32 * 10 + c as u32 * 100;
    out[9] = count.get();
    let held = x;
    x = 7;
    out[10] = held * 10 + x;
    if x == 8 || {
        x = 9;
        x == 9
    } {
        out[11] = x;
    }
    out
}

#[test]
fn evaluation_order() {
    expect!(one(), order_in_rust(), |device, out| order(
        &device.alloc_zeroed::<u32>(1).unwrap(),
        &device.alloc_zeroed::<u32>(1).unwrap(),
        &out
    ));
}

#[kernel]
fn steps(acc: &Acc, step: u32, columns: u32, out: Shared<u32>) {
    for _ in (0..3).step_by(step) {
        out[0] += 1;
    }
    for _ in acc.indices(LINEAR_THREADS_IN_GRID, ([0, 0]..[2, 3]).step_by([1, columns])) {
        out[1] += 1;
    }
}
const STEP_LINE: u32 = line!() - 7;

#[test]
fn a_step_of_zero_is_a_fault() {
    let said = "the step of `step_by` is at least 1";
    // The place is the call of `step_by`, on every device.
    expect_fault!([3, 6], [format!("control.rs:{STEP_LINE}:21"), said], |out| steps(0, 1, &out));
    expect_fault!([2, 6], [format!("control.rs:{}:67", STEP_LINE + 3), said], |out| steps(2, 0, &out));
    expect!(one(), [2, 4], |_device, out| steps(2, 2, &out));
}
