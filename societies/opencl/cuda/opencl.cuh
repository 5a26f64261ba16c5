// What OpenCL C has and CUDA C++ lacks, so that NVRTC compiles the kernels' own text.
//
// `translate.py` puts this in front of a text and renames what means something else in C++: the
// built-in functions below carry the prefix cl_, vector types the prefix cl_ too. Every function
// gives the bits that OpenCL C prescribes; those of real numbers are rounded once. The file is long
// because OpenCL C has many built-in functions, each for many types.

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
static_assert(sizeof(long) == 8 && sizeof(size_t) == 8 && sizeof(void *) == 8, "64 bits");

#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000ll)
#define HUGE_VALF INFINITY
#define MAXFLOAT 0x1.fffffep127f
#define FLT_MAX 0x1.fffffep127f
#define FLT_MIN 0x1.0p-126f
#define FLT_EPSILON 0x1.0p-23f
#define DBL_MAX 0x1.fffffffffffffp1023
#define DBL_MIN 0x1.0p-1022
#define DBL_EPSILON 0x1.0p-52
#define FLT_MANT_DIG 24
#define DBL_MANT_DIG 53
#define M_PI 3.14159265358979323846264338327950288
#define M_PI_F 3.14159265358979323846264338327950288f

#define CL_FN static __device__ __forceinline__

// Memory of all `__local` pointers among a kernel's parameters, one after the other.
extern __shared__ __align__(128) unsigned char societies_dynamic[];

// A pointer to void that becomes any other without a cast, as in C.
struct cl_pointer {
    void *at;
    __device__ __forceinline__ explicit cl_pointer(const volatile void *p) : at((void *)p) {}
    template <class T> __device__ __forceinline__ operator T *() const { return (T *)at; }
};

// Work-items. A dimension that a kernel names as a number costs one register.

CL_FN size_t get_local_id(const uint d)
{
    return d == 0 ? threadIdx.x : d == 1 ? threadIdx.y : d == 2 ? threadIdx.z : 0;
}
CL_FN size_t get_group_id(const uint d)
{
    return d == 0 ? blockIdx.x : d == 1 ? blockIdx.y : d == 2 ? blockIdx.z : 0;
}
CL_FN size_t get_local_size(const uint d)
{
    return d == 0 ? blockDim.x : d == 1 ? blockDim.y : d == 2 ? blockDim.z : 1;
}
CL_FN size_t get_num_groups(const uint d)
{
    return d == 0 ? gridDim.x : d == 1 ? gridDim.y : d == 2 ? gridDim.z : 1;
}
CL_FN size_t get_global_size(const uint d)
{
    return get_num_groups(d) * get_local_size(d);
}
CL_FN size_t get_global_id(const uint d)
{
    return get_group_id(d) * get_local_size(d) + get_local_id(d);
}
CL_FN size_t get_global_offset(const uint)
{
    return 0;
}
CL_FN uint get_work_dim()
{
    return gridDim.z * blockDim.z > 1 ? 3 : gridDim.y * blockDim.y > 1 ? 2 : 1;
}

// Orders local and global memory of the workgroup, whatever the flags.
CL_FN void cl_barrier(const uint)
{
    __syncthreads();
}
CL_FN void cl_mem_fence(const uint)
{
    __threadfence();
}
CL_FN void cl_read_mem_fence(const uint)
{
    __threadfence();
}
CL_FN void cl_write_mem_fence(const uint)
{
    __threadfence();
}

// Vectors: memory as in OpenCL C (three take the room of four), operators component by component.

template <class T, int N> struct cl_vec;
template <class T> struct cl_mask;
template <> struct cl_mask<float> { typedef int type; };
template <> struct cl_mask<double> { typedef long type; };
template <> struct cl_mask<char> { typedef char type; };
template <> struct cl_mask<signed char> { typedef char type; };
template <> struct cl_mask<uchar> { typedef char type; };
template <> struct cl_mask<short> { typedef short type; };
template <> struct cl_mask<ushort> { typedef short type; };
template <> struct cl_mask<int> { typedef int type; };
template <> struct cl_mask<uint> { typedef int type; };
template <> struct cl_mask<long> { typedef long type; };
template <> struct cl_mask<ulong> { typedef long type; };

template <class A, class B> struct cl_same { static const bool value = false; };
template <class A> struct cl_same<A, A> { static const bool value = true; };
template <bool, class T> struct cl_if {};
template <class T> struct cl_if<true, T> { typedef T type; };
template <class T> struct cl_scalar { static const bool value = false; };
#define CL_SCALAR(T) template <> struct cl_scalar<T> { static const bool value = true; };
CL_SCALAR(bool) CL_SCALAR(char) CL_SCALAR(signed char) CL_SCALAR(uchar) CL_SCALAR(short)
CL_SCALAR(ushort) CL_SCALAR(int) CL_SCALAR(uint) CL_SCALAR(long) CL_SCALAR(ulong)
CL_SCALAR(long long) CL_SCALAR(unsigned long long) CL_SCALAR(float) CL_SCALAR(double)

// Some components of a vector, by their numbers in it: `v.lo`, `v.s01`, `v.xyz`.
template <class T, int N, int... I> struct cl_part {
    T all[N];
    __device__ __forceinline__ operator cl_vec<T, int(sizeof...(I))>() const
    {
        cl_vec<T, int(sizeof...(I))> r;
        int k = 0;
        ((r.all[k++] = all[I]), ...);
        return r;
    }
    __device__ __forceinline__ cl_vec<T, int(sizeof...(I))> whole() const { return *this; }
    __device__ __forceinline__ cl_part &operator=(const cl_vec<T, int(sizeof...(I))> &v)
    {
        int k = 0;
        ((all[I] = v.all[k++]), ...);
        return *this;
    }
};

#define CL_MEMBERS(T, SLOTS)                                                                       \
    cl_vec() = default;                                                                            \
    template <class... A> __device__ __forceinline__ cl_vec(const A &...a)                         \
    {                                                                                              \
        if constexpr (sizeof...(A) == 1) {                                                         \
            (cl_spread(a), ...);                                                                   \
        } else {                                                                                   \
            int k = 0;                                                                             \
            (cl_put(a, k), ...);                                                                   \
        }                                                                                          \
    }                                                                                              \
    template <class S> __device__ __forceinline__ void cl_spread(const S &s)                       \
    {                                                                                              \
        if constexpr (cl_scalar<S>::value) {                                                       \
            for (int i = 0; i < SLOTS; ++i) all[i] = (T)s;                                         \
        } else {                                                                                   \
            int k = 0;                                                                             \
            cl_put(s, k);                                                                          \
        }                                                                                          \
    }                                                                                              \
    template <class S> __device__ __forceinline__ void cl_put(const S &s, int &k)                  \
    {                                                                                              \
        if constexpr (cl_scalar<S>::value) {                                                       \
            all[k++] = (T)s;                                                                       \
        } else {                                                                                   \
            cl_put_all(s.whole(), k);                                                              \
        }                                                                                          \
    }                                                                                              \
    template <class U, int M>                                                                      \
    __device__ __forceinline__ void cl_put_all(const cl_vec<U, M> &v, int &k)                      \
    {                                                                                              \
        static_assert(cl_same<T, U>::value, "vectors of other numbers need convert_");             \
        for (int i = 0; i < M; ++i) all[k++] = v.all[i];                                           \
    }                                                                                              \
    __device__ __forceinline__ const cl_vec &whole() const { return *this; }                       \
    __device__ __forceinline__ T &operator[](int i) { return all[i]; }                             \
    __device__ __forceinline__ const T &operator[](int i) const { return all[i]; }

template <class T> struct alignas(2 * sizeof(T)) cl_vec<T, 2> {
    union {
        T all[2];
        struct { T x, y; };
        struct { T s0, s1; };
        struct { T lo, hi; };
        cl_part<T, 2, 0, 1> xy, s01;
        cl_part<T, 2, 1, 0> yx, s10;
    };
    CL_MEMBERS(T, 2)
};
template <class T> struct alignas(4 * sizeof(T)) cl_vec<T, 3> {
    union {
        T all[4];
        struct { T x, y, z; };
        struct { T s0, s1, s2; };
        cl_part<T, 4, 0, 1> xy, lo, s01;
        cl_part<T, 4, 1, 2> yz, s12;
        cl_part<T, 4, 0, 2> xz, s02;
        cl_part<T, 4, 0, 1, 2> xyz, s012;
        cl_part<T, 4, 1, 2, 0> yzx, s120;
        cl_part<T, 4, 2, 0, 1> zxy, s201;
    };
    CL_MEMBERS(T, 3)
};
template <class T> struct alignas(4 * sizeof(T)) cl_vec<T, 4> {
    union {
        T all[4];
        struct { T x, y, z, w; };
        struct { T s0, s1, s2, s3; };
        cl_part<T, 4, 0, 1> lo, xy, s01;
        cl_part<T, 4, 2, 3> hi, zw, s23;
        cl_part<T, 4, 0, 2> even, xz, s02;
        cl_part<T, 4, 1, 3> odd, yw, s13;
        cl_part<T, 4, 1, 2> yz, s12;
        cl_part<T, 4, 0, 1, 2> xyz, s012;
        cl_part<T, 4, 1, 2, 0> yzx, s120;
        cl_part<T, 4, 2, 0, 1> zxy, s201;
        cl_part<T, 4, 3, 2, 1, 0> wzyx, s3210;
    };
    CL_MEMBERS(T, 4)
};
template <class T> struct alignas(8 * sizeof(T)) cl_vec<T, 8> {
    union {
        T all[8];
        struct { T s0, s1, s2, s3, s4, s5, s6, s7; };
        cl_part<T, 8, 0, 1, 2, 3> lo, s0123;
        cl_part<T, 8, 4, 5, 6, 7> hi, s4567;
        cl_part<T, 8, 0, 2, 4, 6> even, s0246;
        cl_part<T, 8, 1, 3, 5, 7> odd, s1357;
        cl_part<T, 8, 0, 1> s01;
        cl_part<T, 8, 2, 3> s23;
        cl_part<T, 8, 4, 5> s45;
        cl_part<T, 8, 6, 7> s67;
    };
    CL_MEMBERS(T, 8)
};
template <class T> struct alignas(16 * sizeof(T)) cl_vec<T, 16> {
    union {
        T all[16];
        struct { T s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf; };
        cl_part<T, 16, 0, 1, 2, 3, 4, 5, 6, 7> lo, s01234567;
        cl_part<T, 16, 8, 9, 10, 11, 12, 13, 14, 15> hi, s89abcdef;
        cl_part<T, 16, 0, 2, 4, 6, 8, 10, 12, 14> even;
        cl_part<T, 16, 1, 3, 5, 7, 9, 11, 13, 15> odd;
    };
    CL_MEMBERS(T, 16)
};

#define CL_TYPES(T)                                                                                \
    typedef cl_vec<T, 2> cl_##T##2;                                                                \
    typedef cl_vec<T, 3> cl_##T##3;                                                                \
    typedef cl_vec<T, 4> cl_##T##4;                                                                \
    typedef cl_vec<T, 8> cl_##T##8;                                                                \
    typedef cl_vec<T, 16> cl_##T##16;
CL_TYPES(char)
CL_TYPES(uchar)
CL_TYPES(short)
CL_TYPES(ushort)
CL_TYPES(int)
CL_TYPES(uint)
CL_TYPES(long)
CL_TYPES(ulong)
CL_TYPES(float)
CL_TYPES(double)

// A vector, or some components of one, as a vector; what else there is takes no part.
template <class V> struct cl_of;
template <class T, int N> struct cl_of<cl_vec<T, N>> {
    typedef T number;
    static const int count = N;
};
template <class T, int N, int... I> struct cl_of<cl_part<T, N, I...>> {
    typedef T number;
    static const int count = int(sizeof...(I));
};
#define CL_VEC(A) cl_vec<typename cl_of<A>::number, cl_of<A>::count>
#define CL_MASK(A) cl_vec<typename cl_mask<typename cl_of<A>::number>::type, cl_of<A>::count>
#define CL_EACH(R, expression)                                                                     \
    R r;                                                                                           \
    for (int i = 0; i < cl_of<A>::count; ++i) r.all[i] = expression;                               \
    return r;

#define CL_OPERATOR(op)                                                                            \
    template <class A, class B>                                                                    \
    CL_FN typename cl_if<(cl_of<A>::count == cl_of<B>::count), CL_VEC(A)>::type operator op(       \
        const A &a, const B &b)                                                                    \
    {                                                                                              \
        const CL_VEC(A) x = a.whole();                                                             \
        const CL_VEC(B) y = b.whole();                                                             \
        CL_EACH(CL_VEC(A), x.all[i] op y.all[i])                                                   \
    }                                                                                              \
    template <class A, class S>                                                                    \
    CL_FN typename cl_if<(cl_scalar<S>::value && cl_of<A>::count > 0), CL_VEC(A)>::type            \
    operator op(const A &a, const S &s)                                                            \
    {                                                                                              \
        const CL_VEC(A) x = a.whole();                                                             \
        const typename cl_of<A>::number y = (typename cl_of<A>::number)s;                          \
        CL_EACH(CL_VEC(A), x.all[i] op y)                                                          \
    }                                                                                              \
    template <class S, class A>                                                                    \
    CL_FN typename cl_if<(cl_scalar<S>::value && cl_of<A>::count > 0), CL_VEC(A)>::type            \
    operator op(const S &s, const A &a)                                                            \
    {                                                                                              \
        const CL_VEC(A) x = a.whole();                                                             \
        const typename cl_of<A>::number y = (typename cl_of<A>::number)s;                          \
        CL_EACH(CL_VEC(A), y op x.all[i])                                                          \
    }                                                                                              \
    template <class T, int N, class B>                                                             \
    CL_FN cl_vec<T, N> &operator op##=(cl_vec<T, N> &a, const B &b)                                \
    {                                                                                              \
        return a = a op b;                                                                         \
    }
CL_OPERATOR(+)
CL_OPERATOR(-)
CL_OPERATOR(*)
CL_OPERATOR(/)
CL_OPERATOR(%)
CL_OPERATOR(&)
CL_OPERATOR(|)
CL_OPERATOR(^)
CL_OPERATOR(<<)
CL_OPERATOR(>>)

// Comparisons of vectors: -1 where true.
#define CL_COMPARISON(op)                                                                          \
    template <class A, class B>                                                                    \
    CL_FN typename cl_if<(cl_of<A>::count == cl_of<B>::count), CL_MASK(A)>::type operator op(      \
        const A &a, const B &b)                                                                    \
    {                                                                                              \
        const CL_VEC(A) x = a.whole();                                                             \
        const CL_VEC(B) y = b.whole();                                                             \
        CL_EACH(CL_MASK(A), x.all[i] op y.all[i] ? -1 : 0)                                         \
    }                                                                                              \
    template <class A, class S>                                                                    \
    CL_FN typename cl_if<(cl_scalar<S>::value && cl_of<A>::count > 0), CL_MASK(A)>::type           \
    operator op(const A &a, const S &s)                                                            \
    {                                                                                              \
        const CL_VEC(A) x = a.whole();                                                             \
        const typename cl_of<A>::number y = (typename cl_of<A>::number)s;                          \
        CL_EACH(CL_MASK(A), x.all[i] op y ? -1 : 0)                                                \
    }                                                                                              \
    template <class S, class A>                                                                    \
    CL_FN typename cl_if<(cl_scalar<S>::value && cl_of<A>::count > 0), CL_MASK(A)>::type           \
    operator op(const S &s, const A &a)                                                            \
    {                                                                                              \
        const CL_VEC(A) x = a.whole();                                                             \
        const typename cl_of<A>::number y = (typename cl_of<A>::number)s;                          \
        CL_EACH(CL_MASK(A), y op x.all[i] ? -1 : 0)                                                \
    }
CL_COMPARISON(==)
CL_COMPARISON(!=)
CL_COMPARISON(<)
CL_COMPARISON(<=)
CL_COMPARISON(>)
CL_COMPARISON(>=)

template <class A> CL_FN CL_VEC(A) operator-(const A &a)
{
    const CL_VEC(A) x = a.whole();
    CL_EACH(CL_VEC(A), -x.all[i])
}
template <class A> CL_FN CL_VEC(A) operator~(const A &a)
{
    const CL_VEC(A) x = a.whole();
    CL_EACH(CL_VEC(A), ~x.all[i])
}
template <class A> CL_FN CL_MASK(A) operator!(const A &a)
{
    const CL_VEC(A) x = a.whole();
    CL_EACH(CL_MASK(A), x.all[i] == 0 ? -1 : 0)
}

// A function of numbers, for vectors component by component.
#define CL_ONE(name)                                                                               \
    template <class T, int N> CL_FN auto name(const cl_vec<T, N> &a)                               \
    {                                                                                              \
        cl_vec<decltype(name(a.all[0])), N> r;                                                     \
        for (int i = 0; i < N; ++i) r.all[i] = name(a.all[i]);                                     \
        return r;                                                                                  \
    }
#define CL_TWO(name)                                                                               \
    template <class T, int N> CL_FN cl_vec<T, N> name(const cl_vec<T, N> &a, const cl_vec<T, N> &b) \
    {                                                                                              \
        cl_vec<T, N> r;                                                                            \
        for (int i = 0; i < N; ++i) r.all[i] = name(a.all[i], b.all[i]);                           \
        return r;                                                                                  \
    }                                                                                              \
    template <class T, int N> CL_FN cl_vec<T, N> name(const cl_vec<T, N> &a, const T b)            \
    {                                                                                              \
        cl_vec<T, N> r;                                                                            \
        for (int i = 0; i < N; ++i) r.all[i] = name(a.all[i], b);                                  \
        return r;                                                                                  \
    }

// Real numbers. Each is one operation, rounded once, or exact.

#define CL_REAL(name, single, twice)                                                               \
    CL_FN float name(const float x)                                                                \
    {                                                                                              \
        return single(x);                                                                          \
    }                                                                                              \
    CL_FN double name(const double x)                                                              \
    {                                                                                              \
        return twice(x);                                                                           \
    }                                                                                              \
    CL_ONE(name)
CL_REAL(cl_sqrt, __fsqrt_rn, __dsqrt_rn)
CL_REAL(cl_fabs, fabsf, fabs)
CL_REAL(cl_floor, floorf, floor)
CL_REAL(cl_ceil, ceilf, ceil)
CL_REAL(cl_trunc, truncf, trunc)
CL_REAL(cl_rint, rintf, rint)
CL_REAL(cl_round, roundf, round)

CL_FN float half_recip(const float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
CL_FN float cl_fma(const float a, const float b, const float c)
{
    return __fmaf_rn(a, b, c);
}
CL_FN double cl_fma(const double a, const double b, const double c)
{
    return __fma_rn(a, b, c);
}
template <class T, int N>
CL_FN cl_vec<T, N> cl_fma(const cl_vec<T, N> &a, const cl_vec<T, N> &b, const cl_vec<T, N> &c)
{
    cl_vec<T, N> r;
    for (int i = 0; i < N; ++i) r.all[i] = cl_fma(a.all[i], b.all[i], c.all[i]);
    return r;
}
CL_FN float cl_copysign(const float a, const float b)
{
    return copysignf(a, b);
}
CL_FN double cl_copysign(const double a, const double b)
{
    return copysign(a, b);
}
CL_TWO(cl_copysign)
CL_FN float cl_fmin(const float a, const float b)
{
    return fminf(a, b);
}
CL_FN double cl_fmin(const double a, const double b)
{
    return fmin(a, b);
}
CL_TWO(cl_fmin)
CL_FN float cl_fmax(const float a, const float b)
{
    return fmaxf(a, b);
}
CL_FN double cl_fmax(const double a, const double b)
{
    return fmax(a, b);
}
CL_TWO(cl_fmax)

// Questions: 1 for a number, -1 for a component of a vector.
#define CL_ASK(name, expression)                                                                   \
    CL_FN int name(const float x)                                                                  \
    {                                                                                              \
        return (expression) ? 1 : 0;                                                               \
    }                                                                                              \
    CL_FN int name(const double x)                                                                 \
    {                                                                                              \
        return (expression) ? 1 : 0;                                                               \
    }                                                                                              \
    template <class A> CL_FN CL_MASK(A) name(const A &a)                                           \
    {                                                                                              \
        const CL_VEC(A) x = a.whole();                                                             \
        CL_EACH(CL_MASK(A), -name(x.all[i]))                                                       \
    }
CL_ASK(cl_isnan, x != x)
CL_ASK(cl_isfinite, x - x == 0)
CL_ASK(cl_isinf, x == x && x - x != 0)
CL_ASK(cl_signbit, cl_copysign(1.0f, (float)(x == 0 || x != x ? cl_copysign((decltype(x + 0))1, x)
                                                            : x)) < 0)

#define CL_COMPARE(name, op)                                                                       \
    template <class T>                                                                             \
    CL_FN typename cl_if<cl_scalar<T>::value, int>::type name(const T a, const T b)                \
    {                                                                                              \
        return a op b ? 1 : 0;                                                                     \
    }                                                                                              \
    template <class T, int N>                                                                      \
    CL_FN auto name(const cl_vec<T, N> &a, const cl_vec<T, N> &b) -> decltype(a op b)              \
    {                                                                                              \
        return a op b;                                                                             \
    }
CL_COMPARE(cl_isequal, ==)
CL_COMPARE(cl_isnotequal, !=)
CL_COMPARE(cl_isless, <)
CL_COMPARE(cl_islessequal, <=)
CL_COMPARE(cl_isgreater, >)
CL_COMPARE(cl_isgreaterequal, >=)

// `any` and `all` look at the highest bit of signed whole numbers.
template <class T> CL_FN typename cl_if<cl_scalar<T>::value, int>::type cl_any(const T x)
{
    return x < 0 ? 1 : 0;
}
template <class T, int N> CL_FN int cl_any(const cl_vec<T, N> &x)
{
    int r = 0;
    for (int i = 0; i < N; ++i) r |= x.all[i] < 0;
    return r;
}
template <class T> CL_FN typename cl_if<cl_scalar<T>::value, int>::type cl_all(const T x)
{
    return x < 0 ? 1 : 0;
}
template <class T, int N> CL_FN int cl_all(const cl_vec<T, N> &x)
{
    int r = 1;
    for (int i = 0; i < N; ++i) r &= x.all[i] < 0;
    return r;
}

// select(a, b, c) is b where c is true: of a vector, where the highest bit of c is set.
template <class T, class C>
CL_FN typename cl_if<(cl_scalar<T>::value && cl_scalar<C>::value), T>::type
cl_select(const T a, const T b, const C c)
{
    return c ? b : a;
}
template <class T, class C, int N>
CL_FN cl_vec<T, N> cl_select(const cl_vec<T, N> &a, const cl_vec<T, N> &b, const cl_vec<C, N> &c)
{
    cl_vec<T, N> r;
    for (int i = 0; i < N; ++i) r.all[i] = (typename cl_mask<C>::type)c.all[i] < 0 ? b.all[i] : a.all[i];
    return r;
}

// Whole numbers, and the smaller and larger of reals as OpenCL C defines them.

#define CL_NUMBERS(F)                                                                              \
    F(char) F(signed char) F(uchar) F(short) F(ushort) F(int) F(uint) F(long) F(ulong)
#define CL_EXTREME(T)                                                                              \
    CL_FN T cl_min(const T a, const T b)                                                           \
    {                                                                                              \
        return b < a ? b : a;                                                                      \
    }                                                                                              \
    CL_FN T cl_max(const T a, const T b)                                                           \
    {                                                                                              \
        return a < b ? b : a;                                                                      \
    }                                                                                              \
    CL_FN T cl_clamp(const T x, const T least, const T most)                                       \
    {                                                                                              \
        return cl_min(cl_max(x, least), most);                                                     \
    }
CL_NUMBERS(CL_EXTREME)
CL_EXTREME(float)
CL_EXTREME(double)
CL_TWO(cl_min)
CL_TWO(cl_max)

#define CL_BITS(T)                                                                                 \
    CL_FN T cl_popcount(const T x)                                                                 \
    {                                                                                              \
        if (sizeof(T) == 8) return (T)__popcll((unsigned long long)x);                             \
        return (T)__popc((uint)x & (0xffffffffu >> (32 - 8 * (sizeof(T) & 7))));                   \
    }                                                                                              \
    CL_FN T cl_clz(const T x)                                                                      \
    {                                                                                              \
        if (sizeof(T) == 8) return (T)__clzll((long long)x);                                       \
        const int unused = 32 - 8 * (int)(sizeof(T) & 7);                                          \
        return (T)(__clz((int)((uint)x & (0xffffffffu >> unused))) - unused);                      \
    }                                                                                              \
    CL_FN T cl_rotate(const T x, const T by)                                                       \
    {                                                                                              \
        const ulong ones = ~0ul >> (64 - 8 * sizeof(T)), bits = (ulong)x & ones;                   \
        const uint n = (uint)by & (8 * sizeof(T) - 1);                                             \
        return (T)(bits << n | bits >> ((8 * sizeof(T) - n) & (8 * sizeof(T) - 1)));               \
    }
CL_NUMBERS(CL_BITS)
CL_ONE(cl_popcount)
CL_ONE(cl_clz)
CL_TWO(cl_rotate)

CL_FN int cl_mul_hi(const int a, const int b)
{
    return __mulhi(a, b);
}
CL_FN uint cl_mul_hi(const uint a, const uint b)
{
    return __umulhi(a, b);
}
CL_FN long cl_mul_hi(const long a, const long b)
{
    return __mul64hi(a, b);
}
CL_FN ulong cl_mul_hi(const ulong a, const ulong b)
{
    return __umul64hi(a, b);
}
CL_TWO(cl_mul_hi)
CL_FN int cl_mul24(const int a, const int b)
{
    return __mul24(a, b);
}
CL_FN uint cl_mul24(const uint a, const uint b)
{
    return __umul24(a, b);
}
CL_FN int cl_mad24(const int a, const int b, const int c)
{
    return __mul24(a, b) + c;
}
CL_FN uint cl_mad24(const uint a, const uint b, const uint c)
{
    return __umul24(a, b) + c;
}
CL_FN uchar cl_abs(const char x)
{
    return x < 0 ? -x : x;
}
CL_FN ushort cl_abs(const short x)
{
    return x < 0 ? -x : x;
}
CL_FN uint cl_abs(const int x)
{
    return x < 0 ? 0u - (uint)x : (uint)x;
}
CL_FN ulong cl_abs(const long x)
{
    return x < 0 ? 0ul - (ulong)x : (ulong)x;
}
CL_FN uint cl_abs(const uint x)
{
    return x;
}
CL_FN ulong cl_abs(const ulong x)
{
    return x;
}

// Atomics. `volatile` says nothing here: they are.

#define CL_ATOMIC(name, cuda, T, C)                                                                \
    CL_FN T cl_##name(volatile T *p, const T x)                                                    \
    {                                                                                              \
        return (T)cuda((C *)p, (C)x);                                                              \
    }
#define CL_ATOMICS(T, C)                                                                           \
    CL_ATOMIC(atomic_add, atomicAdd, T, C)                                                         \
    CL_ATOMIC(atomic_min, atomicMin, T, C)                                                         \
    CL_ATOMIC(atomic_max, atomicMax, T, C)                                                         \
    CL_ATOMIC(atomic_and, atomicAnd, T, C)                                                         \
    CL_ATOMIC(atomic_or, atomicOr, T, C)                                                           \
    CL_ATOMIC(atomic_xor, atomicXor, T, C)                                                         \
    CL_ATOMIC(atomic_xchg, atomicExch, T, C)                                                       \
    CL_FN T cl_atomic_sub(volatile T *p, const T x)                                                \
    {                                                                                              \
        return cl_atomic_add(p, (T)(0 - x));                                                       \
    }                                                                                              \
    CL_FN T cl_atomic_inc(volatile T *p)                                                           \
    {                                                                                              \
        return cl_atomic_add(p, (T)1);                                                             \
    }                                                                                              \
    CL_FN T cl_atomic_dec(volatile T *p)                                                           \
    {                                                                                              \
        return cl_atomic_add(p, (T)-1);                                                            \
    }                                                                                              \
    CL_FN T cl_atomic_cmpxchg(volatile T *p, const T known, const T x)                             \
    {                                                                                              \
        return (T)atomicCAS((C *)p, (C)known, (C)x);                                               \
    }
CL_ATOMICS(int, int)
CL_ATOMICS(uint, uint)
#undef CL_ATOMIC
#define CL_ATOMIC(name, cuda, T, C)                                                                \
    CL_FN T cl_##name(volatile T *p, const T x)                                                    \
    {                                                                                              \
        return (T)cuda((C *)p, (C)x);                                                              \
    }
CL_ATOMIC(atomic_add, atomicAdd, ulong, unsigned long long)
CL_ATOMIC(atomic_add, atomicAdd, long, unsigned long long)
CL_ATOMIC(atomic_min, atomicMin, ulong, unsigned long long)
CL_ATOMIC(atomic_min, atomicMin, long, long long)
CL_ATOMIC(atomic_max, atomicMax, ulong, unsigned long long)
CL_ATOMIC(atomic_max, atomicMax, long, long long)
CL_ATOMIC(atomic_and, atomicAnd, ulong, unsigned long long)
CL_ATOMIC(atomic_or, atomicOr, ulong, unsigned long long)
CL_ATOMIC(atomic_xor, atomicXor, ulong, unsigned long long)
CL_ATOMIC(atomic_xchg, atomicExch, ulong, unsigned long long)
CL_ATOMIC(atomic_xchg, atomicExch, long, unsigned long long)
CL_FN float cl_atomic_xchg(volatile float *p, const float x)
{
    return atomicExch((float *)p, x);
}

// The bits of one type as another of the same size.

template <class R, class T> CL_FN R cl_as(const T x)
{
    static_assert(sizeof(R) == sizeof(T), "as_ needs a type of the same size");
    R r;
    memcpy(&r, &x, sizeof(R));
    return r;
}
#define CL_AS(T)                                                                                   \
    template <class A> CL_FN T as_##T(const A x)                                                   \
    {                                                                                              \
        return cl_as<T>(x);                                                                        \
    }                                                                                              \
    template <class A> CL_FN cl_##T##2 as_##T##2(const A x)                                        \
    {                                                                                              \
        return cl_as<cl_##T##2>(x);                                                                \
    }                                                                                              \
    template <class A> CL_FN cl_##T##4 as_##T##4(const A x)                                        \
    {                                                                                              \
        return cl_as<cl_##T##4>(x);                                                                \
    }                                                                                              \
    template <class A> CL_FN cl_##T##8 as_##T##8(const A x)                                        \
    {                                                                                              \
        return cl_as<cl_##T##8>(x);                                                                \
    }                                                                                              \
    template <class A> CL_FN cl_##T##16 as_##T##16(const A x)                                      \
    {                                                                                              \
        return cl_as<cl_##T##16>(x);                                                               \
    }
CL_AS(char)
CL_AS(uchar)
CL_AS(short)
CL_AS(ushort)
CL_AS(int)
CL_AS(uint)
CL_AS(long)
CL_AS(ulong)
CL_AS(float)
CL_AS(double)

// Conversions without a suffix are those of C. Those to whole numbers that name a rounding:

#define CL_ROUNDED(name, R, single, twice)                                                         \
    CL_FN R name(const float x)                                                                    \
    {                                                                                              \
        return single(x);                                                                          \
    }                                                                                              \
    CL_FN R name(const double x)                                                                   \
    {                                                                                              \
        return twice(x);                                                                           \
    }
CL_ROUNDED(convert_long_rte, long, __float2ll_rn, __double2ll_rn)
CL_ROUNDED(convert_long_rtz, long, __float2ll_rz, __double2ll_rz)
CL_ROUNDED(convert_int_rte, int, __float2int_rn, __double2int_rn)
CL_ROUNDED(convert_int_rtz, int, __float2int_rz, __double2int_rz)
CL_ROUNDED(convert_uint_rte, uint, __float2uint_rn, __double2uint_rn)
CL_ROUNDED(convert_uint_rtz, uint, __float2uint_rz, __double2uint_rz)
#define CL_CONVERT(T)                                                                              \
    template <class A>                                                                             \
    CL_FN typename cl_if<cl_scalar<A>::value, T>::type convert_##T(const A x)                      \
    {                                                                                              \
        return (T)x;                                                                               \
    }                                                                                              \
    CL_CONVERT_ALL(T, 2) CL_CONVERT_ALL(T, 3) CL_CONVERT_ALL(T, 4) CL_CONVERT_ALL(T, 8)            \
    CL_CONVERT_ALL(T, 16)
#define CL_CONVERT_ALL(T, N)                                                                       \
    template <class A> CL_FN cl_vec<T, N> convert_##T##N(const cl_vec<A, N> &x)                    \
    {                                                                                              \
        cl_vec<T, N> r;                                                                            \
        for (int i = 0; i < N; ++i) r.all[i] = (T)x.all[i];                                        \
        return r;                                                                                  \
    }
CL_CONVERT(char)
CL_CONVERT(uchar)
CL_CONVERT(short)
CL_CONVERT(ushort)
CL_CONVERT(int)
CL_CONVERT(uint)
CL_CONVERT(long)
CL_CONVERT(ulong)
CL_CONVERT(float)
CL_CONVERT(double)
