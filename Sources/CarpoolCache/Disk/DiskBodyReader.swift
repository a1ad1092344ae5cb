internal import CarpoolSystem
internal import Glibc

/// Reads a body of a disk store piece by piece. Used on the loop. The file stays open as long as the reader lives, so
/// that eviction does not cut it.
final class DiskBodyReader {
    private let body: OpenBody
    private let queue: WorkerQueue
    private let onDamage: (BodyReadError) -> Void

    /// The reads that wait.
    private static let maximumReads = 16

    init(_ body: OpenBody, work: WorkerAccess, onDamage: @escaping (BodyReadError) -> Void) {
        self.body = body
        self.onDamage = onDamage
        queue = WorkerQueue(worker: work.worker, share: work.share, limit: DiskBodyReader.maximumReads)
    }

    /// Passes on at most `limit` bytes, and 256 KiB, from an offset; none at the end. The first read tells whether the
    /// body can be used at all: until then nothing should be passed on. One that is found damaged is removed from the
    /// store.
    func read(from offset: Int, atMost limit: Int, then: @escaping (Result<[UInt8], BodyReadError>) -> Void) {
        run({ $0.read(from: offset, atMost: limit) }, then: then)
    }

    /// Makes a link to the file; `false` if that is not possible.
    func link(to path: String, then: @escaping (Result<Bool, BodyReadError>) -> Void) {
        run({ $0.link(to: path) }, then: then)
    }

    private func run<Value: Sendable>(
        _ job: @escaping @Sendable (OpenBody) -> Result<Value, BodyReadError>,
        then: @escaping (Result<Value, BodyReadError>) -> Void
    ) {
        do throws(WorkerError) {
            try queue.run({ [body] in job(body) }) { [self] result in
                switch result {
                case .failure(let error) where error == .corrupt || error == .missing: onDamage(error)
                default: break
                }
                then(result)
            }
        } catch {
            then(.failure(.busy))
        }
    }
}

extension DiskStore {
    /// A reader of a body.
    func reader(of file: StoredBodyFile) -> DiskBodyReader {
        let body = OpenBody(file, in: files, verified: verified, closer: work.closer)
        return DiskBodyReader(body, work: work) { [weak self] error in
            // A file that is missing was evicted, as a rule.
            if error == .corrupt { self?.countDamaged(1) }
            self?.remove([file.id])
        }
    }

    /// Makes a link to the file of a body; `false` if that is not possible, such as on another file system. Its bytes
    /// are compared with the checksum before, unless the file is unchanged since then.
    func link(
        _ file: StoredBodyFile, to path: String, then: @escaping (Result<Bool, BodyReadError>) -> Void
    ) {
        reader(of: file).link(to: path, then: then)
    }

    /// Removes a link that ``link(_:to:then:)`` has made.
    func removeLink(_ path: String) {
        work.runAlways({ _ = Glibc.unlink(path) }, then: {})
    }
}
