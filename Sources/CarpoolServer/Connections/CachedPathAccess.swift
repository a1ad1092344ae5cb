internal import CarpoolSystem

/// The cached result of comparing a peer's view of the machine with the daemon's.
struct ViewJudgement {
    /// When the connection was accepted, by the clock of processes' beginnings.
    let accepted = MonotonicTime.uptime()
    /// The last result, and the turn of the loop in which it was determined.
    var access: (verdict: PathAccess, turn: Int)?
}
