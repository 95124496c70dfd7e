//! Random kernels: the same bytes must come out on every device.
//!
//! A [`Case`] is a kernel with its launch. [`generate`] makes one of a seed, whose result does not depend on
//! scheduling; [`run`] launches it on any device through the public `Device` and `Queue`; [`differs`] finds where two
//! devices do not agree, and [`shrink`] makes such a case small.
//!
//! `cases/` holds the cases that once failed, as JSON that [`Case::save`] writes; every suite that runs random kernels
//! runs those of [`replay`] too. `println!("{case}")` prints a case as its kernel's listing.
//!
//! ```
//! use wattle_check::Simulated;
//! use wattle_core::Device;
//! use wattle_fuzz::{Profile, differs, generate};
//!
//! let case = generate(7, &Profile::full());
//! assert_eq!(differs(&case, &Device::simulated(1), &Device::simulated(2))?, None);
//! # Ok::<(), wattle_core::Error>(())
//! ```

mod campaign;
mod case;
mod elements;
mod generate;
mod layout;
mod long;
mod loose;
mod profile;
mod random;
mod replay;
mod run;
mod shrink;

pub use campaign::{Campaign, Found, campaign};
pub use case::{ArgumentValue, Case, CaseView, ViewValue};
pub use generate::generate;
pub use loose::LooseKernel;
pub use profile::Profile;
pub use replay::{Kept, folder, replay};
pub use run::{Difference, Outcome, cannot, compare, differs, is_clean, outcome, outcome_within, run};
pub use shrink::shrink;
