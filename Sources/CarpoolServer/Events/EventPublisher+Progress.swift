internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSystem

// Throttled progress events.
extension EventPublisher {
    /// Sends an event, unless it is a progress event that has to wait. The last progress of an attempt is sent before
    /// the attempt's end.
    func sendThrottled(_ event: borrowing EventJournal.Event, to subscription: Subscription) {
        let type = event.entry.type
        if let subject = event.entry.subject {
            if ProgressTypes.steps.contains(type) {
                let isAdmitted = subscription.throttle?.admits(event.sequence, type, of: subject, at: loop.now)
                guard isAdmitted == true else { return }
            } else if ProgressTypes.endings.contains(type) {
                let held = subscription.throttle?.finish(subject, types: ProgressTypes.stepTypes) ?? []
                for sequence in held { sendLate(sequence, to: subscription) }
            }
        }
        guard subscription.filter.types.contains(type) else { return }
        subscription.sink.queue(event: subscription.head, event.text(for: subscription.reader).withoutFirst)
    }

    /// Sends the progress events that are due.
    func sendDueProgress(to subscription: Subscription) {
        guard subscription.sink.takesEvents, let due = subscription.throttle?.due(at: loop.now) else { return }
        for sequence in due { sendLate(sequence, to: subscription) }
    }

    /// Sends an event later than others: with the cursor at which the subscriber has arrived, since that of the event
    /// would take it back.
    private func sendLate(_ sequence: Int, to subscription: Subscription) {
        guard subscription.filter.types.intersects(ProgressTypes.steps) else { return }
        journal.read(after: sequence &- 1, for: subscription.filter.readers) { event in
            guard event.sequence == sequence else { return false }
            let text = event.text(for: subscription.reader)
            guard let comma = text.firstIndex(of: UInt8(ascii: ",")) else { return false }
            var head = subscription.head
            head.append(contentsOf: #""cursor":"\#(cursor(at: subscription.queue.position))""#.utf8)
            subscription.sink.queue(event: head, UnsafeRawBufferPointer(rebasing: text[comma...]))
            return false
        }
    }

    /// Arms the timer for the next progress event.
    func armThrottle(of subscription: Subscription) {
        guard let next = subscription.throttle?.next else { return }
        loop.arm(subscription.throttleTimer, at: next)
    }
}
