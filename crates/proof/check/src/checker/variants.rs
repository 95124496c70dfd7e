//! The devices of a target, as far as kernels are built differently for them: what a kernel that asks is answered
//! ([`DeviceProperty`]), and how indices are dealt out where the kernel does not say it.

use std::fmt;

use wattle_ir::builder::IndexLayout;
use wattle_ir::{Builtin, DeviceProperty, Expr, Kernel};
use wattle_memory::{CAPABILITIES, Target};

/// A kind of device for which kernels are built differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceVariant {
    /// How the device deals indices out.
    pub layout: IndexLayout,
    /// What the device answers to each property, by its place in [`DeviceProperty::ALL`]; nothing that counts for the
    /// size of warps.
    answers: [u32; DeviceProperty::ALL.len()],
}

/// What kernels ask of their device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Whether some loop leaves to it how indices are dealt out.
    pub layout: bool,
    /// A bit for each property that is asked for, by its place in [`DeviceProperty::ALL`].
    properties: u16,
}

impl Asked {
    /// What a kernel asks but for the layout of indices.
    pub fn by(kernel: &Kernel) -> Asked {
        let mut asked = Asked::default();
        for expr in &kernel.exprs {
            if let Expr::Builtin(Builtin::Device(property), _) = expr {
                asked.properties |= bit(*property);
            }
        }
        asked
    }

    /// What two kernels ask of their device.
    pub fn and(self, other: Asked) -> Asked {
        Asked { layout: self.layout || other.layout, properties: self.properties | other.properties }
    }

    /// Whether two devices give the same answers to all that is asked.
    pub fn is_answered_alike(self, one: DeviceVariant, other: DeviceVariant) -> bool {
        let alike = |property: &DeviceProperty| {
            self.properties & bit(*property) == 0 || one.answer(*property) == other.answer(*property)
        };
        (!self.layout || one.layout == other.layout) && DeviceProperty::ALL.iter().all(alike)
    }

    /// The answers of a device, in words for a report; nothing where nothing is asked that devices differ in.
    pub fn text(self, variant: DeviceVariant) -> String {
        Answers { asked: self, variant }.to_string()
    }
}

struct Answers {
    asked: Asked,
    variant: DeviceVariant,
}

impl fmt::Display for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.asked.layout && self.variant.layout == IndexLayout::Contiguous {
            write!(f, ", runs of indices")?;
        }
        for property in DeviceProperty::ALL.into_iter().filter(|property| self.asked.properties & bit(*property) != 0) {
            if let Some(answer) = self.variant.answer(property) {
                write!(f, ", {} {answer}", property.name())?;
            }
        }
        Ok(())
    }
}

const _: () = assert!(DeviceProperty::ALL.len() <= u16::BITS as usize);

/// The bit of a property, by its place in [`DeviceProperty::ALL`].
fn bit(property: DeviceProperty) -> u16 {
    1 << property as u16
}

impl DeviceVariant {
    /// A device of which these are the answers.
    fn of(layout: IndexLayout, answers: impl Fn(DeviceProperty) -> u32) -> DeviceVariant {
        DeviceVariant { layout, answers: DeviceProperty::ALL.map(answers) }
    }

    /// The answer to what a kernel asks; `None` to what is known when it runs.
    pub fn answer(self, property: DeviceProperty) -> Option<u32> {
        (property != DeviceProperty::WarpSize).then(|| self.answers[property as usize])
    }
}

/// The devices of a target, of which each is tried that answers differently what a scenario's kernels ask.
pub fn variants(target: Target) -> Vec<DeviceVariant> {
    let on_host = |layout| DeviceVariant::of(layout, |property| property.on_host(1));
    let cuda = |sm| DeviceVariant::of(IndexLayout::Strided, move |property| property.on_cuda(sm));
    match target {
        Target::Host => vec![on_host(IndexLayout::Contiguous)],
        Target::Ptx { sm } => vec![cuda(sm)],
        Target::Vulkan => vulkan(),
        // The simulated device, the host, and all GPUs.
        Target::Portable => {
            let host = [IndexLayout::Strided, IndexLayout::Contiguous].map(on_host);
            host.into_iter().chain(CAPABILITIES.map(cuda)).chain(vulkan()).collect()
        }
    }
}

/// Vulkan's devices: each of the features that are optional there is there or not, whatever the others are.
fn vulkan() -> Vec<DeviceVariant> {
    let mut variants = vec![DeviceVariant::of(IndexLayout::Strided, DeviceProperty::on_vulkan)];
    for optional in DeviceProperty::ALL.into_iter().filter(|property| property.on_vulkan() != 0) {
        let without = |variant: &DeviceVariant| {
            let mut without = *variant;
            without.answers[optional as usize] = 0;
            without
        };
        variants.extend(variants.iter().map(without).collect::<Vec<_>>());
    }
    variants
}
