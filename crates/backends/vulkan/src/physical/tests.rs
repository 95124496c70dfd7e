//! What a device is said to have follows from what its driver says, and from nothing else: a feature that is denied in
//! error would only make tests pass over what needs it.

use super::*;

type Flag = fn(&mut FeatureChain) -> &mut vk::Bool32;

/// Each of Vulkan's features, and those of [`Features`] that need it.
const FLAGS: [(Flag, &[&str]); 21] = [
    (
        |chain| &mut chain.core.shader_int64,
        &["int64", "int64 buffers", "int64 shared", "device clock", "subgroup clock"],
    ),
    (|chain| &mut chain.core.shader_float64, &["float64", "f64 buffers", "f64 shared"]),
    (|chain| &mut chain.core.shader_int16, &["int16", "float16"]),
    (|chain| &mut chain.v11.storage_buffer16_bit_access, &["int16", "float16"]),
    (|chain| &mut chain.v12.shader_int8, &["int8"]),
    (|chain| &mut chain.v12.storage_buffer8_bit_access, &["int8"]),
    (|chain| &mut chain.v12.shader_float16, &["float16"]),
    (|chain| &mut chain.v12.shader_buffer_int64_atomics, &["int64 buffers"]),
    (|chain| &mut chain.v12.shader_shared_int64_atomics, &["int64 shared"]),
    (|chain| &mut chain.atomic_float.shader_buffer_float32_atomics, &["f32 buffers"]),
    (|chain| &mut chain.atomic_float.shader_buffer_float32_atomic_add, &["f32 buffers"]),
    (|chain| &mut chain.atomic_float.shader_shared_float32_atomics, &["f32 shared"]),
    (|chain| &mut chain.atomic_float.shader_shared_float32_atomic_add, &["f32 shared"]),
    (|chain| &mut chain.atomic_float.shader_buffer_float64_atomics, &["f64 buffers"]),
    (|chain| &mut chain.atomic_float.shader_buffer_float64_atomic_add, &["f64 buffers"]),
    (|chain| &mut chain.atomic_float.shader_shared_float64_atomics, &["f64 shared"]),
    (|chain| &mut chain.atomic_float.shader_shared_float64_atomic_add, &["f64 shared"]),
    (|chain| &mut chain.clock.shader_device_clock, &["device clock"]),
    (|chain| &mut chain.clock.shader_subgroup_clock, &["subgroup clock"]),
    (|chain| &mut chain.subgroup_size.compute_full_subgroups, &["full subgroups"]),
    (|chain| &mut chain.reconvergence.shader_maximal_reconvergence, &["reconvergence"]),
];

/// The features that are not there.
fn missing(chain: &FeatureChain) -> Vec<&'static str> {
    let more = More {
        driver: vk::DriverId::NVIDIA_PROPRIETARY,
        driver_text: String::new(),
        warp_width: 32,
        subgroup_sizes: None,
        subgroups: Subgroups::default(),
        most_bytes: 0,
        workers: None,
        preserve32: true,
        preserve64: true,
        nearest32: true,
        nearest64: true,
        exact16: true,
    };
    let found = features(chain, &more, &vk::PhysicalDeviceLimits::default());
    let all = [
        (found.int8, "int8"),
        (found.int16, "int16"),
        (found.int64, "int64"),
        (found.float64, "float64"),
        (found.float16, "float16"),
        (found.buffer_int64_atomics, "int64 buffers"),
        (found.shared_int64_atomics, "int64 shared"),
        (found.buffer_float32_add, "f32 buffers"),
        (found.shared_float32_add, "f32 shared"),
        (found.buffer_float64_add, "f64 buffers"),
        (found.shared_float64_add, "f64 shared"),
        (found.preserve32 && found.preserve64, "preserved signs"),
        (found.nearest32 && found.nearest64, "rounding to nearest"),
        (found.device_clock, "device clock"),
        (found.subgroup_clock, "subgroup clock"),
        (found.subgroups.full, "full subgroups"),
        (found.subgroups.reconverges, "reconvergence"),
    ];
    all.into_iter().filter(|(is_there, _)| !is_there).map(|(_, name)| name).collect()
}

#[test]
fn a_device_lacks_exactly_what_its_driver_denies() {
    let everything = || {
        let mut chain = FeatureChain::default();
        FLAGS.iter().for_each(|(flag, _)| *flag(&mut chain) = vk::TRUE);
        chain.subgroup_size.subgroup_size_control = vk::TRUE;
        chain
    };
    assert!(missing(&everything()).is_empty(), "{:?}", missing(&everything()));
    for (number, (flag, needs)) in FLAGS.iter().enumerate() {
        let mut chain = everything();
        *flag(&mut chain) = vk::FALSE;
        let (mut found, mut expected) = (missing(&chain), needs.to_vec());
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "flag {number}");
    }
}
