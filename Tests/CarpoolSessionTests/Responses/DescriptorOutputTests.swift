import CarpoolSystem
import Glibc
import Testing

@testable import CarpoolSession

/// The bytes that wait for the reader of a descriptor, and the memory that they count for.
@Suite(.timeLimit(.minutes(1))) struct DescriptorOutputTests {
    private let loop: EventLoop
    private let worker: Worker
    private let memory = WriteMemory(fileBytes: 1_000_000)
    private let zeros = [UInt8](repeating: 0, count: 400_000)

    init() throws {
        // As in the daemon.
        signal(SIGPIPE, SIG_IGN)
        loop = try EventLoop()
        worker = Worker(loop: loop)
    }

    private var access: WorkerAccess { worker.access(for: WorkerShare(user: 1, client: "test")) }

    /// An output into a pipe, and the end that is read.
    private func piped() throws -> (output: DescriptorOutput, read: Int32) {
        let ends = try FileDescriptor.pipe()
        let file = WorkerFile(FileDescriptor(owning: ends.write), closer: access.closerOfPassed)
        return (DescriptorOutput(PassedOutput(file, .pipe), loop: loop, worker: access), ends.read)
    }

    private func append(_ bytes: [UInt8], to output: DescriptorOutput) {
        bytes.withUnsafeBytes { output.append($0) }
    }

    @Test("What waits counts until nothing can be written any more; what comes then is dropped")
    func countsUntilTheReaderLeaves() throws {
        let (output, read) = try piped()
        var failures: [Int32] = []
        output.onFailure = { [loop] in
            failures.append($0.code)
            loop.stop()
        }
        output.begin(counting: memory, isHashed: false)
        append(zeros, to: output)
        #expect(memory.bufferedBytes == zeros.count)
        close(read)
        loop.run()
        #expect(failures == [EPIPE])
        #expect(memory.bufferedBytes == 0)
        append(zeros, to: output)
        #expect(memory.bufferedBytes == 0)
        output.close {}
        append(zeros, to: output)
        #expect(memory.bufferedBytes == 0)
        #expect(failures == [EPIPE])
    }

    @Test("Without a descriptor the bytes wait, one is asked for once, and the transfer waits at the limit")
    func onDemand() {
        let output = DescriptorOutput(nil, loop: loop, worker: access)
        var questions = 0
        output.onDemand = { questions += 1 }
        output.begin(counting: memory, isHashed: false)
        #expect(!output.needsDescriptor)
        append(zeros, to: output)
        #expect(output.needsDescriptor)
        append(zeros, to: output)
        #expect(!output.isFull)
        append(zeros, to: output)
        #expect(output.isFull)
        #expect(questions == 1)
        #expect(memory.bufferedBytes == 3 * zeros.count)
        var isClosed = false
        output.close { isClosed = true }
        #expect(isClosed && !output.needsDescriptor && !output.isOnDemand)
        #expect(memory.bufferedBytes == 0)
    }

    @Test("An output that is released gives its memory back")
    func released() {
        var output: DescriptorOutput? = DescriptorOutput(nil, loop: loop, worker: access)
        output?.begin(counting: memory, isHashed: false)
        if let output { append(zeros, to: output) }
        #expect(memory.bufferedBytes == zeros.count)
        output = nil
        #expect(memory.bufferedBytes == 0)
    }
}
