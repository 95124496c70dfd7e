//! Modules and launches that cannot be judged.

use thiserror::Error;
use wattle_modules::Refused;

/// A module or a launch that cannot be judged.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unsupported {
    /// The module's text is refused.
    #[error(transparent)]
    Text(#[from] Refused),
    /// No kernel of the module has the name that was asked for.
    #[error("the module has no kernel `{asked}`; it has {}", .known.join(", "))]
    NoKernel {
        /// The name that was asked for.
        asked: String,
        /// The kernels that there are.
        known: Vec<String>,
    },
    /// The module has several kernels, and none was named.
    #[error("the module has several kernels: name one of {}", .0.join(", "))]
    SeveralKernels(Vec<String>),
    /// The arguments do not fit the parameters.
    #[error("{why}. The kernel is `{signature}`")]
    Arguments {
        /// What does not fit.
        why: String,
        /// The kernel with its parameters.
        signature: String,
    },
    /// The shape does not fit the kernel.
    #[error("{0}")]
    Shape(String),
    /// An instruction that the checker has no meaning for.
    #[error("{file}:{line}: {why}\n  in `{instruction}`")]
    Instruction {
        /// The file of the module.
        file: String,
        /// The line in it.
        line: u32,
        /// The line's text.
        instruction: String,
        /// The reason why the instruction is not supported.
        why: String,
    },
}
