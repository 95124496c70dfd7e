//! Races that an interleaving shows.

use crate::source::Statement;

/// The next access of a thread: the place, whether it writes, whether it is atomic.
fn access(statement: &Statement) -> Option<(u64, bool, bool)> {
    Some(match *statement {
        Statement::PlainLoad { cell } => (cell, false, false),
        Statement::PlainStore { cell, .. } => (cell, true, false),
        Statement::Load { cell, .. } | Statement::FailedExchange { cell, .. } => (cell, false, true),
        Statement::Store { cell, .. } | Statement::Exchange { cell, .. } => (cell, true, true),
        _ => return None,
    })
}

#[derive(Clone, Copy)]
struct State {
    at: [usize; 2],
    memory: [u64; 4],
    registers: [[u64; 6]; 2],
}

/// Whether in some interleaving both threads stand before accesses that conflict and are not both atomic. All atomics
/// must be within each other's scope.
pub fn interleaving_races(threads: &[Vec<Statement>]) -> bool {
    from(threads, State { at: [0, 0], memory: [0; 4], registers: [[0; 6]; 2] })
}

fn from(threads: &[Vec<Statement>], mut state: State) -> bool {
    for (thread, statements) in threads.iter().enumerate() {
        // Statements that the other thread cannot see take no turn.
        loop {
            match statements.get(state.at[thread]) {
                Some(&Statement::Guard { statement, value }) if state.registers[thread][statement] != value => {
                    state.at[thread] = statements.len();
                }
                Some(Statement::Guard { .. } | Statement::Fence { .. }) => state.at[thread] += 1,
                _ => break,
            }
        }
    }
    let next = [0, 1].map(|thread: usize| threads[thread].get(state.at[thread]));
    if let [Some(a), Some(b)] = next
        && let (Some((a, a_writes, a_atomic)), Some((b, b_writes, b_atomic))) = (access(a), access(b))
        && a == b
        && (a_writes || b_writes)
        && !(a_atomic && b_atomic)
    {
        return true;
    }
    [0, 1].into_iter().any(|thread: usize| {
        let Some(statement) = next[thread] else { return false };
        let mut state = state;
        let Some((cell, ..)) = access(statement) else { return false };
        state.registers[thread][state.at[thread]] = state.memory[cell as usize];
        if let Statement::PlainStore { value, .. }
        | Statement::Store { value, .. }
        | Statement::Exchange { value, .. } = *statement
        {
            state.memory[cell as usize] = value;
        }
        state.at[thread] += 1;
        from(threads, state)
    })
}
