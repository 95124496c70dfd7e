//! stub
use crate::checker::{Violation, Witness};
/// o
#[derive(Default)]
pub struct SvgOptions<'a> { /// v
 pub violation: Option<&'a Violation> }
/// s
pub fn svg(_w: &Witness, _o: &SvgOptions<'_>) -> String { String::new() }
