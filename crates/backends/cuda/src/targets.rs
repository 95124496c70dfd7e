//! Which code a device gets: for the greatest compute capability whose code it runs, in a version of PTX that its
//! driver reads.

use wattle_ptx::{CAPABILITIES, LEAST_SM, PtxTarget, least_version};

/// The versions of PTX that drivers read, by the version of CUDA that they are for (PTX ISA 8.8, 13 "Release notes":
/// each version of PTX came with one of CUDA; that of 8.6 was 12.7, of which there was a driver and no toolkit). Newer
/// ones than the last are not needed for anything here.
const PTX_OF_DRIVERS: [(i32, (u32, u32)); 9] = [
    (12_000, (8, 0)),
    (12_010, (8, 1)),
    (12_020, (8, 2)),
    (12_030, (8, 3)),
    (12_040, (8, 4)),
    (12_050, (8, 5)),
    (12_070, (8, 6)),
    (12_080, (8, 7)),
    (12_090, (8, 8)),
];

/// The newest version of PTX that a driver of this version reads.
fn ptx_of_driver(version: i32) -> (u32, u32) {
    PTX_OF_DRIVERS.iter().rev().find(|(cuda, _)| *cuda <= version).map_or((0, 0), |(_, ptx)| *ptx)
}

/// The target of code for a device of this compute capability, in tenths, and a driver of this version.
///
/// # Errors
/// There is no such code; the text says what to do.
pub(crate) fn target(capability: u32, driver: i32) -> Result<PtxTarget, String> {
    let words = format!("{}.{}", capability / 10, capability % 10);
    if capability < LEAST_SM {
        let least = format!("{}.{}", LEAST_SM / 10, LEAST_SM % 10);
        return Err(format!(
            "it has compute capability {words}, and {least} is the least with scoped memory operations; use another \
             device"
        ));
    }
    let ptx = ptx_of_driver(driver);
    let readable = CAPABILITIES.into_iter().rev().find(|&sm| sm <= capability && needs(sm) <= ptx);
    match readable {
        Some(sm) => Ok(PtxTarget::new(sm).with_ptx(ptx.0, ptx.1)),
        None => Err(format!("its driver reads no code for compute capability {words}; install a newer driver")),
    }
}

/// The first version of PTX that knows a compute capability.
fn needs(sm: u32) -> (u32, u32) {
    // `least_version` returns what the greatest member of the range needs; PTX names sm_103 first in 8.8.
    if sm == 103 { (8, 8) } else { least_version(sm) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(capability: u32, driver: i32) -> (u32, (u32, u32)) {
        let target = target(capability, driver).unwrap();
        (target.sm, target.ptx)
    }

    #[test]
    fn the_greatest_capability_that_both_know() {
        assert_eq!(of(90, 12_000), (90, (8, 0)));
        assert_eq!(of(90, 12_060), (90, (8, 5)));
        assert_eq!(of(90, 12_070), (90, (8, 6)), "the first with one-sided fences");
        assert_eq!(of(90, 12_090), (90, (8, 8)));
        assert_eq!(of(90, 13_010), (90, (8, 8)), "newer drivers read older versions");
        assert_eq!(of(70, 12_040), (70, (8, 4)));
        assert_eq!(of(100, 12_080), (100, (8, 7)));
        assert_eq!(of(103, 12_080), (101, (8, 7)), "the driver does not know it, and runs older code there");
        assert_eq!(of(110, 13_000), (103, (8, 8)));
        assert_eq!(of(121, 13_000), (120, (8, 8)));
        assert_eq!(of(100, 12_040), (90, (8, 4)));
    }

    #[test]
    fn what_cannot_be() {
        assert!(target(61, 12_090).unwrap_err().contains("compute capability 6.1"));
        assert!(target(90, 11_080).unwrap_err().contains("newer driver"));
    }

    #[test]
    fn what_is_chosen_can_be_built() {
        for (driver, _) in PTX_OF_DRIVERS {
            for capability in 70..=130 {
                let target = target(capability, driver).unwrap();
                assert!(least_version(target.sm) <= target.ptx && target.sm <= capability, "{capability} {driver}");
            }
        }
    }
}
