internal import CarpoolJSON
internal import CarpoolReachability
internal import CarpoolSystem

/// Writes the state of the network, as far as a line has room for it.
struct ReachabilityWriter {
    private let service: ReachabilityService
    private let configuration: ReachabilityConfiguration
    private let statistics: ReachabilityStatistics
    /// The most bytes that the list of interfaces may take.
    let interfaceBytes: Int

    /// Maximum size of the list of interfaces in a line of the default length.
    static let usualInterfaceBytes = 24_576

    init(_ service: ReachabilityService, interfaceBytes: Int = ReachabilityWriter.usualInterfaceBytes) {
        self.service = service
        configuration = service.manager.configuration
        statistics = service.manager.statistics
        self.interfaceBytes = interfaceBytes
    }

    // MARK: A reading

    /// An object with the whole reading, encoded once for all receivers.
    func write(_ reading: ReachabilityReading, to writer: inout JSONWriter) {
        let key = EncodedReading.Key(
            time: reading.time, evaluations: statistics.evaluations, interfaceBytes: interfaceBytes)
        if let known = service.encoded, known.key == key { return writer.raw(known.bytes) }
        var own = JSONWriter()
        own.beginObject()
        writeMembers(reading, to: &own)
        own.endObject()
        let encoded = EncodedReading(key: key, bytes: own.bytes)
        service.encoded = encoded
        writer.raw(encoded.bytes)
    }

    /// The members of that object.
    func writeMembers(_ reading: ReachabilityReading, to writer: inout JSONWriter) {
        let snapshot = reading.snapshot
        writer.member("seq", reading.sequence)
        writer.member("generation", reading.generation)
        writer.member("time", time: reading.wallTime)
        writer.member("monotonic_ns", reading.time.nanoseconds)
        writer.member("status", snapshot.status.rawValue)
        writer.member("unsatisfied_reason", snapshot.unsatisfiedReason?.rawValue)
        write(snapshot.modelStatus, to: &writer)
        writer.member("flags", snapshot.flags?.names)
        writer.member("interface", snapshot.interface?.name)
        writeInterfaces(snapshot, to: &writer)
        writer.member("gateways", snapshot.gateways.map { ReachabilityWriter.text($0, snapshot.interface) })
        writer.member("supports_ipv4", snapshot.ipv4.isUsable)
        writer.member("supports_ipv6", snapshot.ipv6.isUsable)
        writer.member("supports_dns", snapshot.supportsDNS)
        writer.key("ipv4")
        write(snapshot.ipv4, to: &writer)
        writer.key("ipv6")
        write(snapshot.ipv6, to: &writer)
        writeRest(snapshot, to: &writer)
    }

    private func writeRest(_ snapshot: ReachabilitySnapshot, to writer: inout JSONWriter) {
        writer.key("dns")
        writer.beginObject()
        writer.member("servers", snapshot.nameServers.map(\.address.description))
        writer.member("source", configuration.resolverPath)
        writer.endObject()
        writer.member("is_expensive", snapshot.isExpensive)
        writer.member("is_constrained", snapshot.isConstrained)
        if let tunnel = snapshot.tunnel {
            writer.key("tunnel")
            writer.beginObject()
            writer.member("interface", tunnel.interface)
            writer.member("underlying", tunnel.hasUnderlying)
            writer.endObject()
        }
        if !snapshot.networkID.isEmpty { writer.member("network_id", snapshot.networkID) }
        writer.key("monitor")
        writer.beginObject()
        writer.member("source", statistics.source.rawValue)
        writer.member("evaluations", statistics.evaluations)
        writer.member("datagrams", statistics.datagrams)
        writer.member("resyncs", statistics.resyncs)
        writer.endObject()
    }

    private func write(_ status: ModelStatus, to writer: inout JSONWriter) {
        writer.key("model_status")
        writer.beginObject()
        switch status {
        case .unknown: writer.member("status", static: "unknown")
        case .notReachable: writer.member("status", static: "not_reachable")
        case .reachable(let type):
            writer.member("status", static: "reachable")
            writer.member("connection_type", type.rawValue)
        }
        writer.endObject()
    }

    /// A gateway that counts on its link only needs its zone to be of use.
    private static func text(_ address: IPAddress, _ interface: NetworkInterface?) -> String {
        guard address.family == .v6, address.isLinkLocal, let interface else { return address.description }
        return "\(address)%\(interface.name)"
    }

    private func write(_ path: RoutePath, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("usable", path.isUsable)
        writePath(path, to: &writer)
        if path.isSourceForeign { writer.member("source_foreign", true) }
        writer.endObject()
    }

    private func writePath(_ path: RoutePath, to writer: inout JSONWriter) {
        writer.member("reason", path.reason?.rawValue)
        writer.member("interface", path.interface?.name)
        writer.member("gateway", path.gateway.map { ReachabilityWriter.text($0, path.interface) })
        writer.member("source", path.source?.description)
    }

    // MARK: Interfaces

    private func writeInterfaces(_ snapshot: ReachabilitySnapshot, to writer: inout JSONWriter) {
        let limit = writer.count &+ interfaceBytes
        var isTruncated = false
        writer.key("interfaces")
        writer.beginArray()
        for interface in snapshot.interfaces {
            guard writer.count < limit else {
                isTruncated = true
                break
            }
            write(interface, upTo: limit, &isTruncated, to: &writer)
        }
        writer.endArray()
        if isTruncated { writer.member("truncated", true) }
    }

    private func write(
        _ interface: NetworkInterface, upTo limit: Int, _ isTruncated: inout Bool, to writer: inout JSONWriter
    ) {
        let link = interface.link
        writer.beginObject()
        writer.member("name", link.name)
        writer.member("index", link.index)
        writer.member("type", interface.type.rawValue)
        writer.member("kind", link.kind)
        writer.member("virtual", interface.isVirtual)
        writer.member("on_path", interface.isOnPath)
        writer.member("up", link.isUp)
        writer.member("carrier", link.hasCarrier)
        writer.member("oper_state", ReachabilityWriter.name(link.operationalState))
        writer.member("mtu", link.mtu)
        writer.member("expensive", interface.isExpensive)
        writer.member("constrained", interface.isConstrained)
        writer.key("addresses")
        writer.beginArray()
        for address in interface.addresses {
            guard writer.count < limit else {
                isTruncated = true
                break
            }
            writer.beginObject()
            writer.member("address", address.address.description)
            writer.member("prefix", address.prefixLength)
            writer.member("scope", address.scope.rawValue)
            writer.member("state", address.state.rawValue)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
    }

    private static func name(_ state: NetworkLink.OperationalState) -> String {
        switch state {
        case .unknown: "unknown"
        case .notPresent: "not_present"
        case .down: "down"
        case .lowerLayerDown: "lower_layer_down"
        case .testing: "testing"
        case .dormant: "dormant"
        case .up: "up"
        }
    }

    // MARK: Hosts

    /// An object with the ways to one host.
    func write(_ host: HostView, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("host", host.name)
        writer.member("status", host.status.rawValue)
        write(host.modelStatus, to: &writer)
        writer.member("flags", host.best?.flags?.names)
        writer.key("addresses")
        writer.beginArray()
        for address in host.addresses { write(address, to: &writer) }
        writer.endArray()
        if host.failure != nil || host.lookupMilliseconds != nil {
            writer.key("dns")
            writer.beginObject()
            writer.member("ms", host.lookupMilliseconds)
            writer.member("error", host.failure?.rawValue)
            writer.endObject()
        }
        writer.endObject()
    }

    private func write(_ host: HostReachability, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("address", host.address.description)
        writer.member("status", host.status.rawValue)
        writePath(host.path, to: &writer)
        writer.member("type", host.path.interface?.type.rawValue)
        writer.member("is_direct", host.path.isDirect)
        writer.member("is_local_address", host.path.isLocalAddress)
        writer.member("is_expensive", host.path.interface?.isExpensive ?? false)
        writer.endObject()
    }

    // MARK: Changes

    /// The members of `data` of `reachability.changed`.
    func writeMembers(_ change: ReachabilityChange, hosts: [HostView]? = nil, to writer: inout JSONWriter) {
        writer.member("level", (change.difference.level ?? .major).rawValue)
        writer.member("changed", change.difference.fields + (hosts == nil ? [] : ["hosts"]))
        writer.member("causes", change.causes.names)
        writer.key("previous")
        writer.beginObject()
        writer.member("seq", change.previous.sequence)
        writer.member("status", change.previous.snapshot.status.rawValue)
        writer.member("interface", change.previous.snapshot.interface?.name)
        writer.endObject()
        writer.member("first_event_ns", change.firstEvent.nanoseconds)
        writer.member("latency_us", change.current.time.microseconds(since: change.firstEvent))
        writer.member(
            "removed_addresses",
            change.removedAddresses.map(\.description).sorted().prefix(ReachabilityWriter.maximumRemoved).map { $0 })
        if let hosts { write(hosts, to: &writer) }
        writer.key("reachability")
        write(change.current, to: &writer)
    }

    /// More addresses are removed at once only if an interface is cleared.
    private static let maximumRemoved = 64

    /// A member with several hosts.
    func write(_ hosts: [HostView], to writer: inout JSONWriter) {
        writer.key("hosts")
        writer.beginArray()
        for host in hosts { write(host, to: &writer) }
        writer.endArray()
    }
}
