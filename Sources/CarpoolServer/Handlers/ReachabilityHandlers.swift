internal import CarpoolJSON
internal import CarpoolReachability
internal import CarpoolRPC
internal import CarpoolSystem

/// `reachability.*`: whether packets can leave this machine.
struct ReachabilityHandlers {
    let service: ReachabilityService
    let publisher: EventPublisher
    let subscriptions: SubscriptionService
    let configuration: LiveConfiguration

    var table: [String: Handler] {
        ["reachability.get": get, "reachability.watch": watch, "reachability.unwatch": unwatch]
    }

    // MARK: Asking

    private func get(_ call: Call) throws(RPCError) -> Answer {
        let reading = call.params["fresh"]?.bool == true ? service.freshReading() : service.manager.reading
        let writer = ReachabilityWriter(service, interfaceBytes: max(0, call.client.recordBytes / 2))
        guard let name = call.params["host"]?.string else {
            return .result { writer.write(reading, to: &$0) }
        }
        if let (address, zone) = HostView.split(name) {
            let view = HostView(name: name, addresses: [service.manager.lookup(address, zone: zone)])
            return .result { ReachabilityHandlers.write(reading, view, writer, to: &$0) }
        }
        guard call.params["resolve"]?.bool ?? true else {
            return .result { ReachabilityHandlers.write(reading, HostView(name: name), writer, to: &$0) }
        }
        try configuration.checkNetwork(of: call.client)
        resolve(name, call)
        return .pending
    }

    private func resolve(_ name: String, _ call: Call) {
        let begun = MonotonicTime.read()
        service.resolver.resolve(name, for: call.client.uid) { [service] result in
            var view = HostView(name: name)
            view.lookupMilliseconds = MonotonicTime.read().microseconds(since: begun) / 1_000
            switch result {
            case .success(let addresses): view.addresses = addresses.map { service.manager.lookup($0) }
            case .failure(let failure): view.failure = failure
            }
            let writer = ReachabilityWriter(service, interfaceBytes: max(0, call.client.recordBytes / 2))
            let reading = service.manager.reading
            call.answer { [view] in ReachabilityHandlers.write(reading, view, writer, to: &$0) }
        }
    }

    private static func write(
        _ reading: ReachabilityReading, _ host: HostView, _ reachability: ReachabilityWriter,
        to writer: inout JSONWriter
    ) {
        writer.beginObject()
        reachability.writeMembers(reading, to: &writer)
        writer.key("host")
        reachability.write(host, to: &writer)
        writer.endObject()
    }

    // MARK: Watching

    private func watch(_ call: Call) throws(RPCError) -> Answer {
        let client = call.client
        if call.params["hosts"] != nil { try configuration.checkNetwork(of: client) }
        let ticket = try subscriptions.takeShare(for: client)
        var settings = service.settings.listener
        if let value = call.params["lost_after_ms"]?.int { settings.lostAfterMilliseconds = value }
        if let value = call.params["back_after_ms"]?.int { settings.backAfterMilliseconds = value }
        if let value = call.params["min_interval_ms"]?.int { settings.minimumIntervalMilliseconds = value }
        if call.params["level"]?.string == "minor" { settings.level = .minor }
        let hosts = call.params["hosts"].map { list in (0..<list.count).compactMap { list[index: $0]?.string } } ?? []
        let watch = ReachabilityWatch(
            id: "s\(publisher.nextSubscription())", service, sink: client.outlet, uid: client.uid,
            settings: settings,
            hosts: hosts, cursor: { [unowned publisher] in publisher.cursor })
        watch.ticket = ticket
        client.resources.watches[watch.id] = watch
        service.watchDidBegin()
        return .result { writer in
            writer.beginObject()
            watch.writeMembers(to: &writer)
            writer.endObject()
        }
    }

    private func unwatch(_ call: Call) throws(RPCError) -> Answer {
        let watch = call.client.resources.watches.removeValue(forKey: call.params["sub"]?.string ?? "")
        if let watch {
            watch.end()
            service.watchDidEnd()
        }
        return .result { StateChange.write(watch != nil, state: "unsubscribed", to: &$0) }
    }
}
