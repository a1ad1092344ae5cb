internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

/// The `events` parameter of a call that makes a request.
struct InlineEvents {
    let patterns: [String]
    let progressMilliseconds: Int
    /// The quota of the new subscription.
    let ticket: QuotaLedger.Ticket

    /// Reads the parameter; `nil` if there is none.
    init?(_ call: Call, _ subscriptions: SubscriptionService) throws(RPCError) {
        guard let events = call.params["events"] else { return nil }
        patterns = try EventFilterReader.patterns(events["types"], path: "params.events.types")
        progressMilliseconds = events["progress_interval_ms"]?.int ?? 0
        ticket = try subscriptions.takeShare(for: call.client)
    }
}
