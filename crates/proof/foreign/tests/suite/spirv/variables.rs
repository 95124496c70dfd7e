//! Variables of a thread and of constant memory in modules of OpenCL C (`opencl/variables.cl`).

use super::opencl::wrong_of;

/// No specification says how variables lie, so that what leaves one is in none, whatever compilers put behind it.
#[test]
fn an_index_beyond_one_variable_is_in_no_other() {
    let wrong = |kernel: &str, arguments: &str| {
        wrong_of("variables.spvasm", kernel, [1, 1], &format!("out=i32[2]:0 {arguments}"), &[])
    };
    for (kernel, within, beyond) in [
        ("reads", "n=4", &["n=5"][..]),
        ("writes", "at=3", &["at=4", "at=5", "at=-1"]),
        ("looks_up", "at=3", &["at=4", "at=-1"]),
    ] {
        assert_eq!(wrong(kernel, within), "", "{kernel}");
        for beyond in beyond {
            let found = wrong(kernel, beyond);
            assert!(found.contains("which has 16 bytes"), "{kernel} {beyond}: {found}");
        }
    }
}

#[test]
fn a_struct_that_is_passed_by_value_is_the_functions_own() {
    let asserted = ["out[0] == 18", "out[1] == 5"];
    assert_eq!(wrong_of("variables.spvasm", "by_value", [1, 1], "out=i32[2]:0 n=5", &asserted), "");
}
