/// The answer of a call that waits until its client has read more.
struct DueAnswer {
    let entry: RequestEntry
    let write: () -> Void
}

/// Calls whose answers jobs compute: few at a time, so that the others wait as calls and not as text for a client that
/// does not read.
struct ComputedAnswers {
    /// Those that wait for their turn.
    var waiting = NumberedQueue<DueAnswer>()
    /// How many jobs run.
    var running = 0
    /// The maximum of jobs for one connection.
    static let maximum = 4

    /// Whether one more may begin.
    var hasRoom: Bool { running < ComputedAnswers.maximum }
}
