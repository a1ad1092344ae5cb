internal import CarpoolSystem
internal import Glibc

/// Reads from sysfs whether an interface is wireless or a modem, once for each interface: rtnetlink does not report it.
struct InterfaceClassifier {
    private struct Known {
        let name: String
        let type: InterfaceType
    }

    /// The directory of the interfaces in sysfs, `/sys/class/net`.
    private let root: String
    private var known: [Int: Known] = [:]

    /// A uevent file has a few lines.
    private static let maximumBytes = 4_096

    init(root: String) { self.root = root }

    /// The types of all interfaces, by number; forgets removed ones.
    mutating func types(of links: [NetworkLink]) -> [Int: InterfaceType] {
        var types: [Int: InterfaceType] = [:]
        var current: [Int: Known] = [:]
        for link in links {
            var entry = known[link.index]
            if entry?.name != link.name { entry = Known(name: link.name, type: type(of: link)) }
            guard let entry else { continue }
            current[link.index] = entry
            types[link.index] = entry.type
        }
        known = current
        return types
    }

    private func type(of link: NetworkLink) -> InterfaceType {
        let folder = "\(root)/\(link.name)"
        // sysfs shows the namespace that it was mounted in, so a file of the same name may be about another interface.
        guard InterfaceType.needsFiles(link), !link.name.contains("/"), Int(line(of: "\(folder)/ifindex")) == link.index
        else { return .of(link, deviceType: nil, isWireless: false) }
        let events = content(of: "\(folder)/uevent").split(separator: "\n")
        let deviceType = events.first { $0.hasPrefix("DEVTYPE=") }?.dropFirst(8)
        let isWireless = ["wireless", "phy80211"].contains { access("\(folder)/\($0)", F_OK) == 0 }
        return .of(link, deviceType: deviceType.map(String.init), isWireless: isWireless)
    }

    private func line(of path: String) -> Substring { content(of: path).prefix { $0 != "\n" } }

    private func content(of path: String) -> String {
        guard let file = try? FileDescriptor.open(path, O_RDONLY),
            let bytes = try? Bytes.readAll(file.raw, atMost: InterfaceClassifier.maximumBytes, path: path)
        else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }
}
