//! Clauses of the specifications, quoted word for word.

/// A clause of a specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clause {
    /// The name and version of the specification.
    pub document: &'static str,
    /// The section, by number or name.
    pub section: &'static str,
    /// The quoted text; omissions are marked with an ellipsis.
    pub quote: &'static str,
}

impl std::fmt::Display for Clause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}: \"{}\"", self.document, self.section, self.quote)
    }
}
