//! The orders in which accesses can happen, counted by outcome.

/// The orders of accesses that give one outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Orders {
    /// The number of orders.
    pub count: u64,
    /// The pairs of accesses of one place that have the same order in all of them: `read x < write x`.
    pub case: Vec<String>,
    /// The listed orders, each as its accesses in sequence.
    #[cfg_attr(feature = "serde", serde(rename = "orders", skip_serializing_if = "Vec::is_empty"))]
    pub listed: Vec<Vec<String>>,
}

impl Orders {
    /// The maximum number of listed orders.
    pub(crate) const MOST_LISTED: usize = 720;

    /// Adds the orders of another execution.
    pub(crate) fn add(&mut self, other: &Orders) {
        self.count = self.count.saturating_add(other.count);
        if self.case.is_empty() {
            self.case.clone_from(&other.case);
        }
        self.listed.extend(other.listed.iter().take(Orders::MOST_LISTED.saturating_sub(self.listed.len())).cloned());
    }
}
