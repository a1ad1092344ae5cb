internal import CarpoolSystem

/// Where a request's one pipeline stands (RL-08): beside the state that its holder sees, what the session is doing for it. Each case holds
/// what is alive in it.
enum RequestPhase {
    /// Nothing has begun.
    case idle
    /// The request to send is being made: the adapters have it.
    case adapting
    /// There is a task; it is with the transport, or waits for the request to be resumed.
    case tasked(isStarted: Bool)
    /// The response has arrived; the validators have it.
    case validating
    /// It has failed; the retriers have it.
    case deciding(isSerialized: Bool)
    /// It is sent again when the timer's time has come.
    case backingOff(Timer)
    /// It is over but for the serializers. The run is there while one of them has the body.
    case serializing(SerializationRun?)
    /// Nothing follows.
    case over
}
