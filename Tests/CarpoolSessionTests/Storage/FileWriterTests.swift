@testable import CarpoolSession
@testable import CarpoolSystem
import Glibc
import Testing

/// A file that is written by jobs which the test runs.
struct FileWriterTests {
    private final class Setting {
        let work = ManualWork()
        let scheduler = ManualScheduler()
        let store: FileStore
        let writer: FileWriter
        var written: [Int] = []
        var ends: [Int64] = []
        var failures: [Int32] = []
        var rooms = 0

        init(memory: WriteMemory = WriteMemory(), opening: @escaping BackgroundFile.Opening = Setting.temporary) {
            store = FileStore(work: work, scheduler: scheduler, memory: memory)
            writer = FileWriter(store, share: .process, isHashed: true, opening: opening)
            writer.onWritten = { [unowned self] in
                written.append($0)
                ends.append($1)
            }
            writer.onFailure = { [unowned self] in failures.append($0.code) }
            writer.onRoom = { [unowned self] in rooms += 1 }
        }

        static let temporary: BackgroundFile.Opening = { file in
            do throws(SystemError) {
                file.descriptor = try FileDescriptor.unnamed(in: "/tmp")
                return nil
            } catch {
                return error
            }
        }

        func append(_ count: Int, _ byte: UInt8 = 0x61) {
            [UInt8](repeating: byte, count: count).withUnsafeBytes { writer.append($0) }
        }

        func contents() -> [UInt8] {
            var bytes: [UInt8] = []
            writer.perform({ (try? $0.read(at: 0, count: 10_000_000)) ?? [] }, then: { bytes = $0 ?? [] })
            while !work.jobs.isEmpty { work.runNext() }
            return bytes
        }
    }

    @Test("b3: one job writes all pieces of a short interval, of any size")
    func gathered() {
        let setting = Setting()
        for _ in 0..<10_000 { setting.append(1) }
        #expect(setting.work.jobs.isEmpty)
        setting.scheduler.advance(milliseconds: 10)
        #expect(setting.work.jobs.count == 1)
        setting.append(5)
        setting.scheduler.advance(milliseconds: 10)
        #expect(setting.work.jobs.count == 1, "one job at a time")
        setting.work.runNext()
        #expect(setting.written == [10_000])
        setting.scheduler.advance(milliseconds: 10)
        setting.work.runNext()
        #expect(setting.written == [10_000, 5])
        #expect(setting.ends == [10_000, 10_005])
        #expect(setting.contents().count == 10_005)
        #expect(setting.store.memory.bufferedBytes == 0)
    }

    @Test("A quarter of a MiB is written at once, and the transfer waits when a file holds too much")
    func bounded() {
        let setting = Setting(memory: WriteMemory(fileBytes: 600_000, totalBytes: 10_000_000))
        setting.append(262_144, 1)
        #expect(setting.work.jobs.count == 1)
        setting.append(262_144, 2)
        #expect(!setting.writer.isFull)
        setting.append(262_144, 3)
        #expect(setting.writer.isFull)
        #expect(setting.store.memory.bufferedBytes == 786_432)
        setting.work.runNext()
        #expect(setting.rooms == 0, "the next job has all that was gathered")
        setting.work.runNext()
        #expect(setting.rooms == 1)
        #expect(setting.written == [262_144, 524_288])
        #expect(setting.contents() == [1, 2, 3].flatMap { [UInt8](repeating: $0, count: 262_144) })
    }

    @Test("When all files hold too much, each moves in small steps")
    func total() {
        let setting = Setting(memory: WriteMemory(fileBytes: 1_048_576, totalBytes: 40_000))
        setting.append(39_999)
        #expect(!setting.writer.isFull)
        setting.append(1)
        #expect(setting.writer.isFull)
    }

    @Test("A job follows what was appended before it, in one job with it, and comes before what is appended after it")
    func order() {
        let setting = Setting()
        setting.append(3)
        var ends: [Int64?] = []
        setting.writer.perform({ $0.end }, then: { ends.append($0) })
        setting.append(4)
        setting.writer.perform({ $0.end }, then: { ends.append($0) })
        #expect(setting.work.jobs.count == 1)
        while !setting.work.jobs.isEmpty { setting.work.runNext() }
        #expect(ends == [3, 7])
        var hash: [UInt8]??
        setting.writer.performLast({ $0.finishHash() }, then: { hash = $0 })
        setting.work.runNext()
        #expect(hash == SHA256Hash.of([UInt8](repeating: 0x61, count: 7)))
    }

    @Test("A file that cannot be opened or written fails once, and accepts nothing more")
    func failure() {
        let setting = Setting(opening: { _ in SystemError(code: EACCES, operation: "open") })
        setting.append(262_144)
        setting.append(100)
        setting.work.runNext()
        #expect(setting.failures == [EACCES])
        setting.append(262_144)
        #expect(setting.work.jobs.isEmpty)
        #expect(setting.store.memory.bufferedBytes == 0)
        var failure: SystemError?
        setting.writer.perform({ $0.open() }, then: { failure = $0 ?? nil })
        setting.work.runNext()
        #expect(failure?.code == EACCES)
        #expect(setting.failures.count == 1)
    }

    @Test("A disk that is full is reported with the bytes that were written before")
    func fullDisk() {
        let setting = Setting(opening: { file in
            do throws(SystemError) {
                file.descriptor = try FileDescriptor.open("/dev/full", O_WRONLY)
                return nil
            } catch {
                return error
            }
        })
        setting.append(262_144)
        setting.work.runNext()
        #expect(setting.failures == [ENOSPC])
        #expect(setting.written.isEmpty)
    }

    @Test("Closing drops bytes that were not handed over, and waiting callers get nil")
    func closed() {
        let setting = Setting()
        setting.append(262_144)
        setting.append(10)
        var answers: [Int64?] = []
        setting.writer.perform({ $0.end }, then: { answers.append($0) })
        setting.writer.close()
        #expect(answers == [nil])
        setting.writer.perform({ $0.end }, then: { answers.append($0) })
        #expect(answers == [nil, nil])
        var isIdle = false
        setting.writer.whenIdle { isIdle = true }
        while !setting.work.jobs.isEmpty { setting.work.runNext() }
        #expect(isIdle)
        #expect(setting.written == [262_144])
        #expect(setting.store.memory.bufferedBytes == 0)
    }

    @Test("Jobs that the worker refuses are tried again, in their order, and nothing is lost")
    func refused() {
        let setting = Setting()
        setting.work.refuses = true
        setting.append(300_000)
        var end: Int64?
        setting.writer.perform({ $0.end }, then: { end = $0 })
        #expect(setting.work.jobs.isEmpty)
        setting.work.refuses = false
        setting.scheduler.advance(milliseconds: 100)
        while !setting.work.jobs.isEmpty { setting.work.runNext() }
        #expect(end == 300_000)
        #expect(setting.written == [300_000])
    }
}
