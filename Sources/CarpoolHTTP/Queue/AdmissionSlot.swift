/// Where an element of an ``AdmissionQueue`` is, while it waits and while it runs.
struct AdmissionSlot {
    /// The flow of its client to its origin.
    let flow: Int
    /// The priority with which it was queued.
    let rank: Int
    /// Its place in the queue of that priority.
    let token: Int
}
