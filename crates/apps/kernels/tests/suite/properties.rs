//! Random inputs and shapes: every device finds what plain Rust finds.

use proptest::prelude::*;
use wattle::{Device, DeviceKind, ErrorKind};
use wattle_kernels::stream::Stream;
use wattle_kernels::{block_scan, chained_scan, histogram, last_block_sum, stencil, transpose};

/// Runs a check on every device. One with a driver may lack what the check needs.
fn on_all(check: impl Fn(&Device) -> Result<(), TestCaseError>) -> Result<(), TestCaseError> {
    let has_driver = |device: &Device| matches!(device.properties().kind, DeviceKind::Gpu | DeviceKind::Software);
    Device::all().iter().try_for_each(|device| match check(device) {
        Err(TestCaseError::Reject(_)) if has_driver(device) => Ok(()),
        checked => checked,
    })
}

/// A device's error fails the case, but for what the device lacks.
fn done<T>(result: wattle::Result<T>) -> Result<T, TestCaseError> {
    result.map_err(|error| match error.kind() {
        ErrorKind::Capability { .. } => TestCaseError::reject(error.to_string()),
        _ => TestCaseError::fail(error.to_string()),
    })
}

fn near(found: f64, exact: f64, most: f64) -> bool {
    (found - exact).abs() <= most
}

fn matrix(most: usize) -> impl Strategy<Value = ([usize; 2], Vec<f32>)> {
    (1..=most, 1..=most).prop_flat_map(|(rows, columns)| {
        let values = prop::collection::vec(-1e3f32..1e3, rows * columns);
        (Just([rows, columns]), values)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sums(values in prop::collection::vec(-1f32..1.0, 1..5000), launches in 1usize..4) {
        let exact: f64 = values.iter().map(|&x| f64::from(x)).sum();
        on_all(|device| {
            for found in done(last_block_sum::sums::<true>(device, &values, launches))? {
                let most = values.len() as f64 * 1e-5;
                prop_assert!(near(found.into(), exact, most), "{} on {}, and not {exact}", found, device.name());
            }
            Ok(())
        })?;
    }

    #[test]
    fn scans_within_frames(
        values in prop::collection::vec(any::<u32>(), 1..2000),
        extent in 1..=block_scan::MAX_EXTENT,
    ) {
        let exact = block_scan::reference(&values, extent);
        on_all(|device| {
            prop_assert_eq!(&done(block_scan::scan(device, &values, extent))?, &exact, "on {}", device.name());
            Ok(())
        })?;
    }

    #[test]
    fn scans_of_all(values in prop::collection::vec(any::<u32>(), 1..2000)) {
        let exact = block_scan::reference(&values, values.len());
        on_all(|device| {
            prop_assert_eq!(&done(chained_scan::scan::<1>(device, &values))?, &exact, "on {}", device.name());
            prop_assert_eq!(&done(chained_scan::scan::<100>(device, &values))?, &exact, "on {}", device.name());
            Ok(())
        })?;
    }

    #[test]
    fn histograms(values in prop::collection::vec(any::<u8>(), 1..4000)) {
        let exact = histogram::reference(&values);
        on_all(|device| {
            prop_assert_eq!(&done(histogram::count(device, &values))?, &exact, "on {}", device.name());
            Ok(())
        })?;
    }

    #[test]
    fn transposes((extent, values) in matrix(50), side in 1..=transpose::MAX_TILE) {
        let exact = transpose::reference(extent, &values);
        on_all(|device| {
            prop_assert_eq!(&done(transpose::transposed(device, extent, &values, side))?, &exact, "on {}", device.name());
            Ok(())
        })?;
    }

    #[test]
    fn stencils(
        (extent, values) in matrix(30),
        side in [1..=stencil::MAX_TILE, 1..=stencil::MAX_TILE],
        steps in 0usize..4,
    ) {
        let exact = stencil::reference(extent, &values, steps);
        on_all(|device| {
            let found = done(stencil::spread(device, extent, &values, side, steps))?;
            prop_assert_eq!(&found, &exact, "on {}", device.name());
            Ok(())
        })?;
    }

    #[test]
    fn streams(
        values in prop::collection::vec((-1e3f64..1e3, -1e3f64..1e3, -1e3f64..1e3), 1..2000),
        scalar in -2f64..2.0,
    ) {
        let array = |pick: fn(&(f64, f64, f64)) -> f64| values.iter().map(pick).collect::<Vec<_>>();
        let begin = [array(|x| x.0), array(|x| x.1), array(|x| x.2)];
        on_all(|device| {
            let [mut a, mut b, mut c] = begin.clone();
            let mut stream = done(Stream::new(device, a.len()))?;
            done(stream.set(&a, &b, &c, scalar))?;
            done(stream.add())?;
            (0..a.len()).for_each(|i| c[i] = a[i] + b[i]);
            prop_assert_eq!(&done(stream.arrays())?[2], &c, "add on {}", device.name());
            done(stream.triad())?;
            (0..a.len()).for_each(|i| a[i] = b[i] + scalar * c[i]);
            prop_assert_eq!(&done(stream.arrays())?[0], &a, "triad on {}", device.name());
            done(stream.copy())?;
            c.copy_from_slice(&a);
            prop_assert_eq!(&done(stream.arrays())?[2], &c, "copy on {}", device.name());
            done(stream.mul())?;
            (0..a.len()).for_each(|i| b[i] = scalar * c[i]);
            prop_assert_eq!(&done(stream.arrays())?, &[a.clone(), b.clone(), c.clone()], "mul on {}", device.name());
            let products = || a.iter().zip(&b).map(|(a, b)| a * b);
            let most = 1e-12 * products().map(f64::abs).sum::<f64>();
            prop_assert!(near(done(stream.dot())?, products().sum(), most), "on {}", device.name());
            Ok(())
        })?;
    }
}
