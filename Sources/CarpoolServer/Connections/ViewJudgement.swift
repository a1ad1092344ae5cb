internal import CarpoolSystem

/// What is known of a peer's view of the machine.
struct ViewJudgement {
    /// When the connection was accepted, by the clock of processes' beginnings.
    let accepted = MonotonicTime.uptime()
    /// The last verdict, and the turn of the loop in which it was found.
    var access: (verdict: PathAccess, turn: Int)?
}
