internal import Glibc

/// The rights of a process, as /proc/PID/status (proc(5)) shows them.
struct ProcessStatus: Equatable {
    let pid: Int32
    /// The effective user, and the one whose rights apply to files (the second and the fourth value of `Uid`).
    let user: [UInt32]
    /// The group by which files are opened and the supplementary ones, each once, in order.
    let groups: [UInt32]
    /// The effective capabilities.
    let capabilities: UInt64

    /// Maximum number of bytes read, some 2,500 groups: a process may have 65,536, and reading those takes longer
    /// than a turn. For more, the rights are unknown.
    private static let maximumBytes = 32_768

    init?(path: String) {
        guard let file = try? FileDescriptor.open(path, O_RDONLY),
            let bytes = try? Bytes.readAll(file.raw, atMost: ProcessStatus.maximumBytes, path: path)
        else { return nil }
        self.init(text: bytes)
    }

    init?(text: [UInt8]) {
        var fields: [String: [Substring]] = [:]
        let wanted: Set<String> = ["Pid", "Uid", "Gid", "Groups", "CapEff"]
        for line in text.split(separator: UInt8(ascii: "\n")) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let name = String(decoding: line[..<colon], as: UTF8.self)
            guard wanted.contains(name) else { continue }
            let values = String(decoding: line[line.index(after: colon)...], as: UTF8.self)
            fields[name] = values.split { $0 == " " || $0 == "\t" }
        }
        guard let pid = fields["Pid"]?.first.flatMap({ Int32($0) }),
            let users = fields["Uid"].map({ $0.compactMap { UInt32($0) } }), users.count == 4,
            let own = fields["Gid"].map({ $0.compactMap { UInt32($0) } }), own.count == 4,
            let others = fields["Groups"], let capabilities = fields["CapEff"]?.first.flatMap({ UInt64($0, radix: 16) })
        else { return nil }
        let groups = others.compactMap { UInt32($0) }
        guard groups.count == others.count else { return nil }
        self.pid = pid
        user = [users[1], users[3]]
        self.groups = Set(groups + [own[3]]).sorted()
        self.capabilities = capabilities
    }

    /// The start time of a process, in nanoseconds of the system's uptime, rounded down to the kernel's tick
    /// (`starttime` in /proc/PID/stat).
    static func start(of pid: Int32) -> UInt64? {
        let path = "/proc/\(pid)/stat"
        guard let file = try? FileDescriptor.open(path, O_RDONLY),
            let bytes = try? Bytes.readAll(file.raw, atMost: 65_536, path: path)
        else { return nil }
        return start(stat: bytes, ticksPerSecond: UInt64(max(1, sysconf(Int32(_SC_CLK_TCK)))))
    }

    /// The name of the program, in parentheses, may contain blanks and parentheses: the fields after the last one
    /// have fixed positions.
    static func start(stat: [UInt8], ticksPerSecond: UInt64) -> UInt64? {
        guard let end = stat.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = stat[stat.index(after: end)...].split(separator: UInt8(ascii: " "))
        // Field 22 of the line; the first one here is field 3.
        guard fields.count > 19, let ticks = UInt64(String(decoding: fields[19], as: UTF8.self)) else { return nil }
        let (nanoseconds, isTooMuch) = ticks.multipliedReportingOverflow(by: 1_000_000_000 / ticksPerSecond)
        return isTooMuch ? nil : nanoseconds
    }
}
