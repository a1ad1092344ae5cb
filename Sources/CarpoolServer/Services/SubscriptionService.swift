internal import CarpoolRPC

/// Makes subscriptions, within the clients' quotas.
final class SubscriptionService {
    let publisher: EventPublisher
    let quota = QuotaLedger()
    let configuration: LiveConfiguration

    init(publisher: EventPublisher, configuration: LiveConfiguration) {
        self.publisher = publisher
        self.configuration = configuration
    }

    /// A client's share for one more subscription or watch, if there is room for it.
    func takeShare(for client: any Client) throws(RPCError) -> QuotaLedger.Ticket {
        let limits = configuration.limits
        let count = client.resources.subscriptions.count + client.resources.watches.count
        guard count < limits.subscriptionsPerConnection else {
            throw .tooManySubscriptions(limit: limits.subscriptionsPerConnection)
        }
        do throws(Quota.Refusal) {
            return try quota.take(for: client.identity, limits.subscriptionBounds)
        } catch {
            throw .tooManySubscriptions(error)
        }
    }

    /// Begins a subscription; its events come after the answer of the call that names it.
    func begin(_ subscription: Subscription, of client: any Client, announcedBy call: Call) {
        client.resources.subscriptions[subscription.id] = subscription
        publisher.add(subscription)
        call.onAnswered = { [weak client] in
            subscription.isAnnounced = true
            if subscription.queue.hasMore || subscription.isEnding { client?.outlet.eventsAreWaiting() }
        }
    }
}
