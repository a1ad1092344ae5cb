/// The position of an element of an ``AdmissionQueue``, while it waits and while it is under way.
struct AdmissionSlot {
    /// The flow of its client to its origin.
    let flow: Int
    /// The priority with which it was queued.
    let rank: Int
    /// The token of the element in the queue of that priority.
    let token: Int
}
