internal import CLinux
internal import Glibc

/// The environment of a daemon: a few documented variables, independent of the program that starts it.
///
/// A daemon outlives the program that started it and serves others. That program's environment, such as
/// `OPENSSL_CONF`, `LD_PRELOAD`, a proxy or a token, must neither affect other programs' requests nor stay in the
/// daemon's memory.
public enum DaemonEnvironment {
    /// The search path of every daemon.
    public static let path = "/usr/local/bin:/usr/bin:/bin"

    /// The variable with the pid of a process that has executed itself, so that it does so only once, even if something
    /// adds variables at each execution.
    private static let marker = "CARPOOL_EXECUTED"

    /// Whether a daemon keeps a variable of the program that starts it, with that value. `PATH` has a fixed value
    /// instead.
    public static func isKept(_ name: Substring) -> Bool {
        switch name {
        case "HOME", "USER", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "NOTIFY_SOCKET": true
        default: ["XDG_", "CARPOOL_", "LISTEN_", "WATCHDOG_"].contains { name.hasPrefix($0) }
        }
    }

    /// Removes all other variables from this process. If there are any, the process executes itself with the rest, and
    /// the call does not return. Call it first: libraries read their variables when they are first used.
    ///
    /// The process, its descriptors and arguments stay the same. Where it cannot execute itself, as without /proc,
    /// the variables are only taken out of the environment that libraries see.
    public static func enforce() {
        let executed = Environment.process[marker] == String(getpid())
        unsetenv(marker)
        let kept = keptEntries()
        guard kept.count < count() else { return }
        if !executed { execute(kept) }
        remove(allBut: kept)
    }

    /// Whether an entry of the environment stays, as it is.
    private static func isKept(entry: UnsafeMutablePointer<CChar>) -> Bool {
        guard let equals = strchr(entry, Int32(UInt8(ascii: "="))) else { return false }
        let bytes = UnsafeRawBufferPointer(start: entry, count: equals - entry)
        let name = String(decoding: bytes, as: UTF8.self)
        return isKept(name[...]) || name == "PATH" && String(cString: equals + 1) == path
    }

    /// The entries that stay, each name once.
    private static func keptEntries() -> [UnsafeMutablePointer<CChar>] {
        var kept: [UnsafeMutablePointer<CChar>] = []
        var names: Set<String> = []
        guard var entry = CLinux_environment() else { return [] }
        while let text = entry.pointee {
            let name = String(String(cString: text).prefix { $0 != "=" })
            if isKept(entry: text), names.insert(name).inserted { kept.append(text) }
            entry += 1
        }
        return kept
    }

    private static func count() -> Int {
        guard let first = CLinux_environment() else { return 0 }
        var count = 0
        while first[count] != nil { count += 1 }
        return count
    }

    /// Replaces this program by itself; returns only if that fails.
    private static func execute(_ kept: [UnsafeMutablePointer<CChar>]) {
        let extra = ["PATH=\(path)", "\(marker)=\(getpid())"].map { (entry: String) in strdup(entry) }
        defer { for entry in extra { free(entry) } }
        let others = kept.filter { strncmp($0, "PATH=", 5) != 0 }
        let environment: [UnsafeMutablePointer<CChar>?] = others + extra + [nil]
        // By its own path, since the kernel names a process after the file that it executes.
        guard let program = realpath("/proc/self/exe", nil) ?? strdup("/proc/self/exe"),
            let arguments = ProgramArguments.values
        else { return }
        defer { free(program) }
        environment.withUnsafeBufferPointer { variables in
            guard let variables = variables.baseAddress else { return }
            execve(program, arguments, variables)
            // The program's file may have been replaced since.
            execve("/proc/self/exe", arguments, variables)
        }
    }

    private static func remove(allBut kept: [UnsafeMutablePointer<CChar>]) {
        guard let entries = CLinux_environment() else { return }
        for (place, entry) in kept.enumerated() { entries[place] = entry }
        entries[kept.count] = nil
    }
}
