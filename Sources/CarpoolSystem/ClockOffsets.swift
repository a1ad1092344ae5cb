#if CARPOOL_CLOCK_OFFSETS
    internal import Glibc
    internal import Synchronization

    /// Shifts the clocks by what a file says, so that a test can step them: only in a build with the condition
    /// `CARPOOL_CLOCK_OFFSETS`, and never in what users run.
    ///
    /// The file is named by the variable `CARPOOL_CLOCKS_FILE` and read at the start and in each turn of the loop. A
    /// line is the name of a clock and seconds: `realtime +86400.5`. A clock without a line is not shifted.
    enum ClockOffsets {
        /// The longest time that the loop sleeps, so that it notices a step soon.
        private static let longestWaitMilliseconds: Int32 = 50

        private static let path = getenv("CARPOOL_CLOCKS_FILE").map { String(cString: $0) }
        private static let realtime = Atomic<Int64>(0)
        private static let monotonic = Atomic<Int64>(0)
        private static let boottime = Atomic<Int64>(0)
        private static let isLoaded: Bool = {
            load()
            return true
        }()

        /// The offset of a clock, in nanoseconds.
        static func nanoseconds(of clock: clockid_t) -> Int64 {
            guard isLoaded else { return 0 }
            return switch clock {
            case CLOCK_REALTIME: realtime.load(ordering: .relaxed)
            case CLOCK_MONOTONIC: monotonic.load(ordering: .relaxed)
            default: boottime.load(ordering: .relaxed)
            }
        }

        /// Limits the time that the loop sleeps; -1 is without a limit.
        static func limit(_ milliseconds: Int32) -> Int32 {
            guard path != nil else { return milliseconds }
            return milliseconds < 0 ? longestWaitMilliseconds : min(milliseconds, longestWaitMilliseconds)
        }

        /// Reads the file. Ends the program if it cannot be understood: a test must not run without the steps that it
        /// has asked for.
        static func load() {
            guard let path else { return }
            guard let file = try? FileDescriptor.open(path, O_RDONLY | O_CLOEXEC),
                let bytes = try? Bytes.readAll(file.raw, atMost: 4_096, path: path)
            else { return fail("cannot read \(path)") }
            let text = String(decoding: bytes, as: UTF8.self)
            var offsets: [Substring: Int64] = ["realtime": 0, "monotonic": 0, "boottime": 0]
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                guard words.count == 2, offsets[words[0]] != nil, let seconds = Double(words[1]),
                    let nanoseconds = Int64(exactly: (seconds * 1e9).rounded())
                else { return fail("not understood: \(line)") }
                offsets[words[0]] = nanoseconds
            }
            realtime.store(offsets["realtime"] ?? 0, ordering: .relaxed)
            monotonic.store(offsets["monotonic"] ?? 0, ordering: .relaxed)
            boottime.store(offsets["boottime"] ?? 0, ordering: .relaxed)
        }

        private static func fail(_ message: String) {
            let line = "CARPOOL_CLOCKS_FILE: \(message)\n"
            _ = write(STDERR_FILENO, line, line.utf8.count)
            _exit(2)
        }
    }
#endif
