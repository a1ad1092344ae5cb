internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

extension RequestHandlers {
    /// Subscribes a call to the events of its request, from the first one to the last. Returns the subscription's name.
    /// - Parameter waitsForAnswer: whether the events come after the call's answer. That of `request.perform` is the
    ///   last that comes.
    func follow(_ entry: RequestEntry, _ events: InlineEvents?, _ call: Call, waitsForAnswer: Bool) -> String? {
        guard let events, let subject = entry.request.context as? EventSubject else { return nil }
        let filter = EventFilter(patterns: events.patterns, scope: .request(subject))
        let publisher = subscriptions.publisher
        // A request that ends with its connection leaves nobody who would resume its events.
        publisher.startRecording(filter.types, mayBeResumed: !entry.cancelsOnDisconnect)
        let last = publisher.journal.last
        let subscription = Subscription(
            id: "s\(publisher.nextSubscription())", filter: filter, sink: call.client.outlet,
            reader: call.client.identity, queue: EventQueue(position: last, last: last),
            progressMilliseconds: events.progressMilliseconds)
        subscription.ticket = events.ticket
        subscriptions.begin(subscription, of: call.client, announcedBy: call)
        if !waitsForAnswer { subscription.isAnnounced = true }
        entry.request.whenFinished { [weak client = call.client] _ in
            subscription.isEnding = true
            client?.outlet.eventsAreWaiting()
        }
        return subscription.id
    }
}
