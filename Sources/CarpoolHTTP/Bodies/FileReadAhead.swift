internal import CarpoolSystem
internal import Glibc

/// Reads a range of a file ahead of the network: jobs of a worker fill two buffers in turn, which are emptied on the
/// loop. Without a worker it reads on the caller's thread.
public final class FileReadAhead {
    /// Called when there are bytes again after ``BodyReading/wait``.
    public var onReady: () -> Void = {}

    private let file: BodyFile
    private let offset: Int64
    private let length: Int64
    /// The number of bytes returned, and the number requested from jobs.
    private var position: Int64 = 0
    private var requested: Int64 = 0
    /// Bytes that were read and not returned yet.
    private var blocks = ReadAheadBlocks()
    /// Why reading ended early: the `errno`, or 0 if the file ended; `nil` while it goes well.
    private var shortage: Int32?
    /// The number of the current job. ``restart()`` abandons earlier jobs, and their results are dropped.
    private var job = 0
    /// Whether a job is reading.
    private var isReading = false
    /// Whether ``read(into:)`` has returned ``BodyReading/wait``, so that ``onReady`` must be called.
    private var isAwaited = false

    /// The size of a buffer: a job for it costs less than the reading.
    private static let blockBytes: Int64 = 262_144

    /// Starts reading a range of a file.
    public init(_ file: BodyFile, offset: Int64, length: Int64) {
        self.file = file
        self.offset = offset
        self.length = length
        readAhead()
    }

    /// Rewinds to the first byte.
    public func restart() {
        guard position > 0 || shortage != nil else { return }
        position = 0
        requested = 0
        blocks.removeAll()
        shortage = nil
        job += 1
        isReading = false
        readAhead()
    }

    /// Copies the next bytes into a buffer that is not empty.
    public func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyReading {
        guard position < length else { return .end }
        guard file.worker != nil else { return readDirectly(into: buffer) }
        if let count = blocks.take(into: buffer) {
            position += Int64(count)
            readAhead()
            return .bytes(count)
        }
        if let shortage { return file.shortage(of: length, code: shortage) }
        guard file.file != nil || isReading else { return file.shortage(of: length, code: EBADF) }
        isAwaited = true
        readAhead()
        return .wait
    }

    private func readDirectly(into buffer: UnsafeMutableRawBufferPointer) -> BodyReading {
        let wanted = min(buffer.count, Int(clamping: length - position))
        while true {
            let count = pread(file.raw, buffer.baseAddress, wanted, off_t(offset + position))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return file.shortage(of: length, code: count < 0 ? errno : 0) }
            position += Int64(count)
            return .bytes(count)
        }
    }

    private func readAhead() {
        guard let worker = file.worker, let file = file.file, !isReading, shortage == nil, requested < length,
            !blocks.isFull
        else { return }
        let count = Int(min(FileReadAhead.blockBytes, length - requested))
        let block = blocks.empty(bytes: count)
        isReading = true
        job += 1
        let (number, place) = (job, offset + requested)
        requested += Int64(count)
        // One job for each transfer, so that their number is bounded.
        worker.runAlways {
            block.fill(from: file, at: place, count: count)
        } then: { [weak self] shortage in
            self?.didRead(block, shortage, job: number)
        }
    }

    private func didRead(_ block: ReadAheadBlocks.Block, _ shortage: Int32?, job: Int) {
        guard job == self.job else { return }
        isReading = false
        blocks.append(block)
        self.shortage = shortage
        readAhead()
        guard isAwaited else { return }
        isAwaited = false
        onReady()
    }
}

extension ReadAheadBlocks.Block {
    /// Fills the buffer from an offset of the file. Returns `nil`, or why the buffer is not full: 0 at the end of the
    /// file, otherwise the `errno`.
    fileprivate func fill(from file: WorkerFile, at offset: Int64, count wanted: Int) -> Int32? {
        while count < wanted {
            let read = pread(file.raw, buffer.baseAddress.map { $0 + count }, wanted - count, off_t(offset) + count)
            if read < 0, errno == EINTR { continue }
            if read <= 0 { return read < 0 ? errno : 0 }
            count += read
        }
        return nil
    }
}

extension BodyFile {
    /// The failure of a file that ended before `promised` bytes, or cannot be read.
    func shortage(of promised: Int64, code: Int32) -> BodyReading {
        guard !Shortage.isShortage(code) else { return .failed(.shortage(code)) }
        let name = path.map { " \($0)" } ?? ""
        let fault = code == 0 ? "ended before \(promised) bytes" : "cannot be read: \(SystemError.reason(of: code))"
        return .failed(
            TransportError(
                .requestBodyStreamExhausted, "the body's file\(name) \(fault)", systemCode: code == 0 ? nil : code))
    }
}
