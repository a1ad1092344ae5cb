internal import CarpoolCaller
internal import CarpoolJSON
internal import CarpoolSystem

/// Formats the state of the network.
struct ReachabilityReport {
    private let network: JSON
    private let host: JSON?

    /// A report of the result of `reachability.get`, with the routes to a host.
    init(_ network: JSON, host: JSON?) {
        self.network = network
        self.host = host
    }

    /// Whether requests should be tried, to the host if there is one. True if the state is unknown.
    var isUsable: Bool {
        let status = (host ?? network)["status"]
        return status?.isString("satisfied") == true || status?.isString("unknown") == true
    }

    /// Whether the routes to the host are known, if there is one. False while its name is resolved.
    var isKnown: Bool {
        guard let host else { return true }
        return host["status"]?.isString("unknown") != true || network["status"]?.isString("unknown") == true
    }

    /// Whether packets can leave, but the host's name does not exist: waiting for the network does not help.
    var isWithoutHost: Bool {
        host?["dns"]?["error"]?.isString("cannot_find_host") == true && network["status"]?.isString("satisfied") == true
    }

    /// One line, printed at each change.
    var summary: String {
        let world = "network \(ReachabilityReport.summary(of: network))"
        guard let host else { return PlainText.escaped(world) }
        return PlainText.escaped("\(world); \(host["host"]?.string ?? "?") \(ReachabilityReport.summary(of: host))")
    }

    /// The full report.
    var lines: [String] {
        var lines = [row("network", ReachabilityReport.summary(of: network))]
        for family in [("IPv4", network["ipv4"]), ("IPv6", network["ipv6"])] {
            lines.append(row(family.0, ReachabilityReport.way(family.1)))
        }
        lines.append(row("DNS", servers))
        if let tunnel = network["tunnel"]?["interface"]?.string { lines.append(row("tunnel", tunnel)) }
        let costs = [("is_expensive", "metered"), ("is_constrained", "constrained (low-data mode)")]
        for (name, words) in costs where network[name]?.bool == true { lines.append(row("traffic", words)) }
        guard let host else { return lines }
        lines.append(row(host["host"]?.string ?? "host", ReachabilityReport.summary(of: host)))
        if let error = host["dns"]?["error"]?.string { lines.append(row("", error)) }
        host["addresses"]?.forEachElement { address in
            lines.append(row("", "\(address["address"]?.string ?? "?"): \(ReachabilityReport.way(address))"))
        }
        return lines
    }

    private var servers: String {
        var servers: [String] = []
        network["dns"]?["servers"]?.forEachElement { servers += [$0.string].compactMap(\.self) }
        let list = servers.isEmpty ? "no servers" : servers.joined(separator: ", ")
        return network["supports_dns"]?.bool == true ? list : "\(list), without a route to them"
    }

    private static func summary(of state: JSON) -> String {
        let status = state["status"]?.string ?? "unknown"
        let reason = state["unsatisfied_reason"]?.string.map { " (\($0))" } ?? ""
        switch status {
        case "satisfied": return "reachable" + (state["interface"]?.string.map { " over \($0)" } ?? "")
        case "unsatisfied": return "not reachable\(reason)"
        case "requires_connection": return "waits for a connection\(reason)"
        default: return "unknown"
        }
    }

    /// A route such as `192.168.1.7 over eth0 by way of 192.168.1.1`, or why there is none.
    private static func way(_ way: JSON?) -> String {
        if let reason = way?["reason"]?.string { return "no (\(reason))" }
        guard let interface = way?["interface"]?.string else { return "no" }
        let source = way?["source"]?.string.map { "from \($0) " } ?? ""
        let gateway = way?["gateway"]?.string.map { " by way of \($0)" } ?? ""
        return "\(source)over \(interface)\(gateway)"
    }

    private func row(_ name: String, _ text: String) -> String {
        PlainText.escaped(EventLine.padded(name, 12) + text)
    }
}
