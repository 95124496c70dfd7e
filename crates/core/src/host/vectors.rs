//! The vector instructions that kernels use on the host. An ordinary build is for the oldest processors of its kind, so
//! the macro compiles a kernel with loops for newer ones too, where the build is optimized; which of them runs is
//! chosen here, once.
//!
//! The bits of results do not depend on the choice: nothing is contracted or reordered that was not before.

use std::sync::OnceLock;

use wattle_ir::vectors;

use crate::error::{Result, system};

/// The environment variable that forces a choice.
const VARIABLE: &str = "WATTLE_HOST_VECTORS";

/// What a kernel is compiled for where it is compiled as the build says.
const BASELINE: &str = "baseline";

macro_rules! instructions {
    ($($(#[$doc:meta])* $name:ident $text:literal [$($feature:tt)+])+) => {
        /// Instructions that the build does not use by itself.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Vectors {
            $($(#[$doc])* $name,)+
        }

        /// What the processor has, from the fewest to the most.
        fn detected() -> Vec<(&'static str, Vectors)> {
            #[cfg(target_arch = "x86_64")]
            let all = [$(($text, Vectors::$name, true $(&& std::arch::is_x86_feature_detected!($feature))+)),+];
            #[cfg(not(target_arch = "x86_64"))]
            let all: [(&'static str, Vectors, bool); 0] = [];
            all.into_iter().filter(|(_, _, has)| *has).map(|(text, vectors, _)| (text, vectors)).collect()
        }
    };
}
vectors!(instructions);

/// What is chosen among what the processor has: the most, unless `asked` names another. The name, and the instructions
/// if they are not the build's own.
fn choose(
    detected: &[(&'static str, Vectors)],
    asked: Option<&str>,
) -> std::result::Result<(&'static str, Option<Vectors>), String> {
    let all: Vec<_> = std::iter::once((BASELINE, None))
        .chain(detected.iter().map(|(text, vectors)| (*text, Some(*vectors))))
        .collect();
    let Some(asked) = asked else { return Ok(all[all.len() - 1]) };
    all.iter().find(|(text, _)| *text == asked).copied().ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|(text, _)| *text).collect();
        format!("{VARIABLE} is `{asked}`, and this processor has: {}", names.join(", "))
    })
}

static CHOSEN: OnceLock<std::result::Result<(&'static str, Option<Vectors>), String>> = OnceLock::new();

/// A name, and the instructions if they are not the build's own.
fn chosen() -> &'static std::result::Result<(&'static str, Option<Vectors>), String> {
    CHOSEN.get_or_init(|| {
        let asked = std::env::var_os(VARIABLE).filter(|asked| !asked.is_empty());
        choose(&detected(), asked.as_ref().map(|asked| asked.to_string_lossy()).as_deref())
    })
}

/// The instructions that kernels use beyond the build's own.
#[inline]
pub fn vectors() -> Option<Vectors> {
    match chosen() {
        Ok((_, vectors)) => *vectors,
        // No queue of the host is made then.
        Err(_) => None,
    }
}

/// The name of the instructions that kernels use.
///
/// # Errors
/// The environment asks for what the processor does not have.
pub(super) fn name() -> Result<&'static str> {
    match chosen() {
        Ok((name, _)) => Ok(name),
        Err(message) => Err(system("choosing the host's vector instructions", message.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_is_chosen_or_what_is_asked_for() {
        let detected = detected();
        let most = detected.last().map_or(BASELINE, |(text, _)| text);
        assert_eq!(choose(&detected, None).unwrap().0, most);
        for (text, _) in &detected {
            let (name, vectors) = choose(&detected, Some(text)).unwrap();
            assert!(name == *text && vectors.is_some());
        }
        assert!(matches!(choose(&detected, Some(BASELINE)), Ok((BASELINE, None))));
        let error = choose(&detected, Some("sse9")).unwrap_err();
        assert!(error.contains("WATTLE_HOST_VECTORS is `sse9`") && error.contains(BASELINE), "{error}");
    }
}
