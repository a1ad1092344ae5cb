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
        var (pids, users, own, capabilities) = ([UInt64](), [UInt64](), [UInt64](), [UInt64]())
        var others: [UInt64]?
        var rest = text[...]
        while !rest.isEmpty {
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            rest = rest.dropFirst(line.count + 1)
            if let values = ProcessStatus.values("Pid:", line) { pids = values }
            if let values = ProcessStatus.values("Uid:", line) { users = values }
            if let values = ProcessStatus.values("Gid:", line) { own = values }
            if let values = ProcessStatus.values("Groups:", line) { others = values }
            if let values = ProcessStatus.values("CapEff:", line, radix: 16) { capabilities = values }
        }
        guard let pid = pids.first.flatMap({ Int32(exactly: $0) }), users.count == 4, own.count == 4, let others,
            let capabilities = capabilities.first, (users + own + others).allSatisfy({ $0 <= UInt64(UInt32.max) })
        else { return nil }
        self.pid = pid
        user = [UInt32(users[1]), UInt32(users[3])]
        groups = Set((others + [own[3]]).map(UInt32.init)).sorted()
        self.capabilities = capabilities
    }

    /// The numbers of the line with this name, separated by blanks and tabs; `nil` for another line, or one that has
    /// something else.
    private static func values(_ name: StaticString, _ line: ArraySlice<UInt8>, radix: UInt64 = 10) -> [UInt64]? {
        // Most lines are others: this comes before the comparison.
        guard let first = line.first, first == name.utf8Start[0] else { return nil }
        let name = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        guard line.starts(with: name) else { return nil }
        var values: [UInt64] = []
        var isInNumber = false
        for byte in line.dropFirst(name.count) {
            guard byte != UInt8(ascii: " "), byte != UInt8(ascii: "\t") else {
                isInNumber = false
                continue
            }
            let digit = digit(byte)
            guard digit < radix else { return nil }
            if !isInNumber { values.append(0) }
            isInNumber = true
            let (product, isTooLarge) = values[values.count - 1].multipliedReportingOverflow(by: radix)
            guard !isTooLarge, product <= .max - digit else { return nil }
            values[values.count - 1] = product + digit
        }
        return values
    }

    /// The value of a digit, or of a lower-case hexadecimal one; 16 for another byte.
    private static func digit(_ byte: UInt8) -> UInt64 {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a")) + 10
        default: 16
        }
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
